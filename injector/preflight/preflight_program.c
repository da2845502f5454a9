/* SPDX-License-Identifier: MIT */
/*
 * preflight_program.c - would the injector work in this program?
 *
 * Checks what is mapped, what the program was built for, and whether it imports an allocator.
 * Everything is read from outside. Enter at check_earlier_session and check_hooks.
 */
#include "preflight_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arch.h"
#include "arena.h"
#include "entries.h"
#include "glibc_version.h"
#include "hi_path.h"
#include "link_map.h"
#include "plain_text.h"
#include "proc_file.h"

/* ---- an earlier session ---------------------------------------------------------------------- */

/* Pids are reused; but a process that maps the same memfd is the injector of that session. */
static bool is_injector_alive(pid_t injector, const struct mapping *arena)
{
	struct maps maps = {0};
	char comm[16];
	bool found = false;
	size_t i;

	if (injector <= 0)
		return false;
	/* perhaps of another user: then compare the name */
	if (maps_read(injector, injector, &maps)) {
		comm_of(injector, comm);
		return strcmp(comm, "heapinject") == 0;
	}
	for (i = 0; i < maps.count && !found; i++)
		found = maps.mapping[i].inode == arena->inode &&
			strcmp(maps.mapping[i].path, ARENA_PATH) == 0;
	maps_close(&maps);
	return found;
}

/*
 * Only a mapped control block is a session: a gate that had to stay behind is no obstacle. attach
 * removes what a fork has inherited.
 */
int check_earlier_session(struct subject *subject)
{
	struct preflight *out = subject->out;
	const struct mapping *arena = maps_find(&subject->maps, arena_find(&subject->maps));
	uint32_t injector = 0;
	char remedy[64];

	out->is_inherited = arena && arena_is_inherited(arena->lo, &subject->memory);
	if (!arena || out->is_inherited)
		return 0;
	if (memory_read(&subject->memory, arena->lo + offsetof(struct hi_control, injector_pid),
			&injector, sizeof(injector)) == 0)
		out->injector = (pid_t)injector;
	snprintf(remedy, sizeof(remedy), "run heapinject detach %d", out->pid);
	/* the target wrote its own pid there, so that somebody would end it, or be advised to */
	if (out->injector == out->pid)
		out->injector = 0;
	if (is_injector_alive(out->injector, arena))
		return refuse(subject, PREFLIGHT_ATTACHED, remedy,
			      "heapinject is attached to it already (pid %d)", out->injector);
	return refuse(subject, PREFLIGHT_ORPHAN, remedy,
		      "an earlier heapinject (pid %d) died while attached to it", out->injector);
}

/* ---- is there anything to hook --------------------------------------------------------------- */

/* qemu-ARCH or qemu-ARCH-static, but not qemu-system-ARCH or qemu-img: their heap is their own. */
static bool is_user_emulator(const char *exe)
{
	static const char *const machines[] = {
		"aarch64",     "alpha",     "arm",        "armeb", "hexagon", "hppa",     "i386",
		"loongarch64", "m68k",      "microblaze", "mips",  "mips64",  "mips64el", "mipsel",
		"mipsn32",     "mipsn32el", "or1k",       "ppc",   "ppc64",   "ppc64le",  "riscv32",
		"riscv64",     "s390x",     "sh4",        "sparc", "sparc64", "x86_64",   "xtensa"};
	const char *name = hi_base_name(exe);

	if (strncmp(name, "qemu-", 5) != 0)
		return false;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		const size_t length = strlen(machines[i]);

		if (strncmp(name + 5, machines[i], length) == 0 &&
		    (name[5 + length] == '\0' || strcmp(name + 5 + length, "-static") == 0))
			return true;
	}
	return false;
}

/* valgrind and qemu run the program as data: its real code is never executed. */
int check_emulated(struct subject *subject)
{
	struct preflight *out = subject->out;
	char target[sizeof(out->exe)];
	ssize_t length;

	for (size_t i = 0; i < subject->maps.count; i++) {
		if (strstr(subject->maps.mapping[i].path, "/vgpreload_core"))
			return refuse(subject, PREFLIGHT_INSTRUMENTED, "run it without valgrind",
				      "it runs under valgrind");
	}
	length = readlink(proc_path(out->pid, out->tid, "exe").text, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	plain_text_copy(out->exe, sizeof(out->exe), target);
	if (is_user_emulator(target))
		return refuse(subject, PREFLIGHT_INSTRUMENTED,
			      "profile it on a machine of its kind",
			      "it runs under qemu's user emulation, whose heap is the emulator's");
	return 0;
}

/*
 * Reads the ELF header from the program's file; from memory, if the file may be executed but not
 * read.
 */
static int read_header(const struct subject *subject, Elf64_Ehdr *out_header)
{
	const struct preflight *out = subject->out;
	const struct mapping *mapping;
	Elf64_Ehdr header = {0};
	uint64_t program_headers;
	int fd, err = 0;

	if (proc_open(out->pid, out->tid, "exe", O_RDONLY, &fd) == 0) {
		if (read(fd, &header, sizeof(header)) < 0)
			err = -errno;
		close(fd);
	} else {
		err = proc_auxv(out->pid, out->tid, AT_PHDR, &program_headers);
		mapping = err ? NULL : maps_find(&subject->maps, program_headers);
		if (!err)
			err = mapping ? memory_read(&subject->memory, mapping->lo, &header,
						    sizeof(header))
				      : -ENOEXEC;
	}
	if (!err)
		*out_header = header;
	return err;
}

int check_abi(struct subject *subject)
{
	Elf64_Ehdr header; /* e_ident and e_machine lie at the same place in both classes */
	int err = read_header(subject, &header);

	if (err)
		return err;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return refuse(subject, PREFLIGHT_WRONG_ABI, "only ELF programs can be profiled",
			      "its program is not an ELF file");
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return refuse(subject, PREFLIGHT_WRONG_ABI, "profile a 64-bit build of it",
			      "it is %s program",
			      header.e_machine == ARCH_ELF_MACHINE ? ARCH_SMALL_ABI_NAME
								   : "a 32-bit");
	if (header.e_machine != ARCH_ELF_MACHINE)
		return refuse(subject, PREFLIGHT_WRONG_ABI,
			      "use a heapinject built for its architecture",
			      "it is a program of another architecture (ELF machine %u)",
			      header.e_machine);
	return 0;
}

static bool defines(const struct elf_images *images, const char *symbol)
{
	remote_addr address;

	return elf_images_resolve(images, symbol, &address, NULL) == 0;
}

static int check_sanitizers(struct subject *subject)
{
	static const struct {
		const char *symbol, *name;
	} runtimes[] = {
		{"__asan_init", "AddressSanitizer"},
		{"__hwasan_init", "HWAddressSanitizer"},
		{"__msan_init", "MemorySanitizer"},
		{"__tsan_init", "ThreadSanitizer"},
	};
	size_t i;

	for (i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		if (defines(&subject->images, runtimes[i].symbol))
			return refuse(subject, PREFLIGHT_INSTRUMENTED, "profile a build without it",
				      "it is built with %s, which owns the heap", runtimes[i].name);
	}
	return 0;
}

static void find_libc(const struct elf_images *images, struct preflight *out)
{
	const struct elf_image *libc;
	remote_addr address;
	size_t i;

	if (elf_images_resolve(images, "gnu_get_libc_version", &address, &libc) == 0) {
		const int minor = glibc_version(libc->elf);

		out->libc = PREFLIGHT_LIBC_GLIBC;
		if (minor)
			snprintf(out->libc_version, sizeof(out->libc_version), "2.%d", minor);
		return;
	}
	for (i = 0; i < images->count; i++) {
		if (images->image[i].is_loader && strstr(images->image[i].path, "musl"))
			out->libc = PREFLIGHT_LIBC_MUSL;
	}
}

/*
 * True if there is no object besides the program and the vdso. (A static PIE has an r_debug, but
 * nothing fills it.)
 */
static bool is_static(const struct elf_images *images)
{
	size_t i;

	for (i = 0; i < images->count; i++) {
		if (!images->image[i].is_main && !images->image[i].is_vdso)
			return false;
	}
	return true;
}

/*
 * Is the dynamic linker still loading the program, or loading something else at the moment? Then
 * the objects found now are not the final ones.
 */
static bool is_loading(const struct subject *subject)
{
	uint64_t fingerprint;

	return !subject->images.r_debug ||
	       link_map_fingerprint(&subject->memory, subject->images.r_debug, NULL,
				    &fingerprint) == -EAGAIN;
}

static int refuse_loading(struct subject *subject)
{
	return refuse(subject, PREFLIGHT_LOADING, "try again in a moment",
		      "its dynamic linker is at work");
}

/*
 * Counts the slots to hook. Slots that lead to an inherited arena count too: attach makes them the
 * program's own again.
 */
static int count_slots(struct subject *subject, const struct allocator *allocator)
{
	const remote_addr arena = subject->out->is_inherited ? arena_find(&subject->maps) : 0;
	struct slots slots = {0};
	uint64_t size = 0;

	if (arena && memory_read_u64(&subject->memory,
				     arena + offsetof(struct hi_control, arena_size), &size))
		size = 0;
	const int err = slots_find(&subject->images, allocator, &subject->memory, arena,
				   arena + size, &slots);

	if (err)
		return err;
	subject->out->slot_count = slots.count + slots.ours;
	subject->out->foreign_slot_count = slots.foreign;
	slots_close(&slots);
	return 0;
}

static size_t count_code(const struct maps *maps)
{
	size_t count = 0;

	for (size_t i = 0; i < maps->count; i++)
		count += maps->mapping[i].executable;
	return count;
}

/*
 * Checks again with new maps. Another heapinject may have attached since the maps were read: then
 * slots lead to addresses that are not in the old maps. Or a program that has just been started may
 * have loaded its libraries since.
 */
static int check_maps_of_now(struct subject *subject)
{
	struct subject now = *subject;
	int answer = maps_read(subject->out->pid, subject->out->tid, &now.maps);
	if (answer)
		return answer;
	answer = check_earlier_session(&now);
	if (!answer && count_code(&now.maps) != count_code(&subject->maps))
		answer = refuse_loading(subject);
	maps_close(&now.maps);
	return answer;
}

static int refuse_unimported(struct subject *subject)
{
	const int answer = check_maps_of_now(subject);
	if (answer)
		return answer;
	return refuse(subject, PREFLIGHT_NO_HOOKS,
		      "entry hooks for such programs come with a later version",
		      "no import of malloc to hook (the allocator is bound inside %s)",
		      subject->out->allocator[0] ? subject->out->allocator : "the program");
}

/* Adds other allocators to which slots lead. */
static int find_bound(struct subject *subject, const struct allocator *allocator)
{
	struct slots slots = {0};
	const int err = slots_find(&subject->images, allocator, &subject->memory, 0, 0, &slots);

	if (err)
		return err;
	unhooked_add_bound(&slots, &subject->out->unhooked);
	slots_close(&slots);
	return 0;
}

/*
 * Counts the hooks that attach would set by default; inherited changes will have been removed by
 * then.
 */
static int count_hooks(struct subject *subject, struct allocator *allocator)
{
	struct preflight *out = subject->out;
	const struct memory *memory = out->is_inherited ? NULL : &subject->memory;
	struct entries entries;
	int err = 0;

	entries_clear(&entries);
	if (!out->status.locked_bytes)
		err = entries_find(&subject->images, &subject->maps, memory, allocator, &entries);
	out->entry_count = entries_count(&entries);
	unhooked_find(&subject->images, allocator, entries.entry[HI_FN_MALLOC].at, &out->unhooked);
	if (!err)
		err = find_bound(subject, allocator);
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++)
		if (entries_have(&entries, (enum hi_function)function))
			allocator->original[function] = 0;
	return err ? err : count_slots(subject, allocator);
}

int check_hooks(struct subject *subject)
{
	struct preflight *out = subject->out;
	struct allocator allocator;
	int err = elf_images_read(out->pid, &subject->maps, &subject->memory, &subject->images);

	if (err == -ENOEXEC) /* during exec there is no program yet */
		return refuse(subject, PREFLIGHT_LOADING, "try again in a moment",
			      "its program is being loaded, or cannot be read");
	if (err)
		return err;
	if (is_static(&subject->images)) {
		out->libc = PREFLIGHT_LIBC_STATIC;
		err = check_maps_of_now(subject);
		return err ? err
			   : refuse(subject, PREFLIGHT_NO_HOOKS,
				    "entry hooks for static programs come with a later version",
				    "no import of malloc to hook (statically linked)");
	}
	if (is_loading(subject))
		return refuse_loading(subject);
	err = check_sanitizers(subject);
	if (err)
		return err;
	find_libc(&subject->images, out);
	err = allocator_find(&subject->images, &allocator);
	if (err == -ENOENT)
		return refuse_unimported(subject);
	if (err)
		return err;
	plain_text_copy(out->allocator, sizeof(out->allocator), allocator.image->path);
	err = count_hooks(subject, &allocator);
	if (err)
		return err;
	return out->entry_count || out->slot_count ? 0 : refuse_unimported(subject);
}
