/* SPDX-License-Identifier: MIT */
/*
 * elf_fuzz.c - an ELF object of a target as the injector reads it: program headers, dynamic
 * section, symbols, relocations, unwind tables. The fuzzer maps the file into itself and is its own
 * target. The first byte says whether the object is read from its file or, as the vdso is, put
 * together from memory.
 *
 * libFuzzer: -max_len=16384
 */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "elf_image.h"
#include "entries_find.h"
#include "fuzz.h"
#include "glibc_version.h"
#include "nesting.h"
#include "return_gadget.h"
#include "unhooked.h"
#include "unwind_table.h"

#define COPY_ROOM (1u << 20)
#define MAPPED_BYTES (64u << 10) /* beyond the end of the file nothing can be read */

/* Its code, as far as functions are hooked there. */
static void look_at_code(struct elf_images *images, const struct maps *maps,
			 const struct memory *memory, const struct allocators *allocators)
{
	static struct entries entries;
	struct unhooked_list unhooked;

	images->image[0].is_pinned = true;
	entries_clear(&entries);
	if (!entries_find(images, maps, NULL, allocators, &entries))
		(void)!nesting_find(images, allocators, &entries);
	(void)return_gadget_find(images, &images->image[0], memory, true);
	unhooked_find(allocators, &entries, &unhooked);
	for (size_t i = 0; i < unhooked.count; i++)
		FUZZ_CHECK(strlen(unhooked.unhooked[i].function) > 0);
}

static void use(struct elf_images *images, const struct maps *maps, const struct memory *memory)
{
	const struct elf_image *image = &images->image[0];
	static struct allocators allocators;

	FUZZ_CHECK(image->build_id_size <= BUILD_ID_MAX);
	for (size_t i = 0; i < image->text_count; i++) {
		const remote_addr lo = image->text[i].lo, hi = image->text[i].hi;
		struct unwind_table table;

		if (unwind_table_build(image, &image->text[i], &table))
			continue;
		for (remote_addr pc = lo; pc < hi; pc += 61)
			FUZZ_CHECK(unwind_table_find(&table, pc)->pc <= pc - lo);
		unwind_table_close(&table);
	}
	FUZZ_CHECK(glibc_version(image->elf) >= 0);
	if (!allocators_find(images, memory, NULL, &allocators))
		look_at_code(images, maps, memory, &allocators);
}

/* Mapped where the kernel likes, once; the file's contents change underneath. */
static struct maps map(int fd, bool as_vdso)
{
	static void *at;
	struct maps maps;
	struct stat status;
	char line[256];

	if (!at)
		at = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	FUZZ_CHECK(at != MAP_FAILED && !fstat(fd, &status));
	const uintptr_t lo = (uintptr_t)at;
	const int size =
		as_vdso ? snprintf(line, sizeof(line), "%lx-%lx r-xp 00000000 00:00 0 [vdso]\n", lo,
				   lo + MAPPED_BYTES)
			: snprintf(line, sizeof(line),
				   "%lx-%lx r-xp 00000000 %02x:%02x %lu /memfd:fuzz (deleted)\n",
				   lo, lo + MAPPED_BYTES, major(status.st_dev),
				   minor(status.st_dev), status.st_ino);
	FUZZ_CHECK(!maps_parse(line, (size_t)size, &maps) && maps.count == 1);
	return maps;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory memory = {.fd = -1};
	const bool as_vdso = fuzz_take(&data, &size, 1) & 1;
	struct maps maps = map(fuzz_file(data, size), as_vdso);
	struct elf_image image = {.fd = -1, .link_order = 0};
	struct elf_images images = {.image = &image, .count = 1};
	bool taken[1] = {false};
	size_t copy_room = COPY_ROOM;

	elf_version(EV_CURRENT);
	if (memory.fd < 0)
		FUZZ_CHECK(!memory_open(&memory, getpid(), getpid()));
	const struct elf_image_source source = {.pid = getpid(),
						.maps = &maps,
						.memory = &memory,
						.taken = taken,
						.copy_room = &copy_room};
	if (!elf_image_open(&source, 0, &image))
		use(&images, &maps, &memory);
	FUZZ_CHECK(copy_room <= COPY_ROOM);
	elf_image_close(&image);
	maps_close(&maps);
	return 0;
}
