/* SPDX-License-Identifier: MIT */
/*
 * objfile_fuzz.c - an ELF file as the analyzer reads it: identity, symbol tables, a packed one
 * among them, and the bounds of functions.
 *
 * libFuzzer: -max_len=16384
 */
#include "fuzz.h"
#include "mini_debug.h"
#include "objfile.h"
#include "symtab.h"
#include "unwind_bounds.h"

static void look_up(Elf *elf, int (*open)(Elf *, struct symtab *))
{
	struct symtab table;

	if (open(elf, &table))
		return;
	for (uint64_t address = 0; address < 0x8000; address += 0x35) {
		const char *name = symtab_find(&table, address);

		FUZZ_CHECK(!name || strlen(name) < 1u << 20);
	}
	symtab_close(&table);
}

static void look_up_bounds(const struct objfile *file)
{
	struct unwind_bounds bounds;
	uint64_t begin;

	if (unwind_bounds_open(file, &bounds))
		return;
	for (uint64_t address = 0; address < 0x8000; address += 0x35)
		FUZZ_CHECK(unwind_bounds_find(&bounds, file, address, &begin) || begin <= address);
	unwind_bounds_close(&bounds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	const struct file_source source = {.ask_fd = 0};
	struct profile_module module = {.path = path, .open_path = path};
	struct objfile file, debug;
	struct mini_debug mini;
	size_t id_size;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fuzz_file(data, size));
	if (objfile_open(&source, &module, NULL, &file))
		return 0;
	const uint8_t *id = objfile_build_id(file.elf, &id_size);
	FUZZ_CHECK(id ? id_size > 0 && id_size <= size : id_size == 0);
	for (size_t i = 1; i < id_size; i++)
		FUZZ_CHECK(id[i - 1] + id[i] <= 510); /* it can be read */
	(void)objfile_has_code(file.elf);
	snprintf(path, sizeof(path), "/nonexistent/program");
	if (!objfile_open_debug(&source, &module, &file, &debug))
		objfile_close(&debug);
	look_up(file.elf, symtab_open_full);
	look_up(file.elf, symtab_open);
	look_up_bounds(&file);
	if (!mini_debug_open(file.elf, &mini)) {
		look_up(mini.elf, symtab_open_full);
		mini_debug_close(&mini);
	}
	objfile_close(&file);
	return 0;
}
