/* SPDX-License-Identifier: MIT */
/*
 * preflight_program.c - would the injector work in this program?
 *
 * Checks what is mapped, and what the program was built for. Everything is read from outside. Enter
 * at check_earlier_session, check_emulated and check_abi.
 */
#include "preflight_checks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arch.h"
#include "arena.h"
#include "hi_page.h"
#include "hi_path.h"
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

/* The injector that has this number in a container, by its number here; 0: none is seen. */
static pid_t find_injector(pid_t inner, const struct mapping *arena)
{
	DIR *proc = opendir(PROC_DIRECTORY);
	struct proc_status status;
	pid_t pid;

	while (proc && (pid = proc_next(proc)))
		if (!proc_status_read(pid, pid, &status) && status.ns_pid == inner &&
		    pid != inner && is_injector_alive(pid, arena))
			break;
	if (!proc)
		return 0;
	closedir(proc);
	return pid;
}

/* Had the session undone all but what calls may return to? */
static bool has_ended(const struct subject *subject, const struct mapping *arena)
{
	uint32_t phase;

	return !memory_read(&subject->memory, arena->lo + offsetof(struct hi_control, phase),
			    &phase, sizeof(phase)) &&
	       (phase == HI_PHASE_RESTORED || phase == HI_PHASE_UNLOADING);
}

/* Of a session that this pid is not: it is one of a container, or has died. */
static int refuse_distant(struct subject *subject, const struct mapping *arena, const char *remedy)
{
	struct preflight *out = subject->out;
	const pid_t found = find_injector(out->injector, arena);
	char remedy_here[96];

	if (found) {
		snprintf(remedy_here, sizeof(remedy_here), "%s, or kill -TERM %d", remedy, found);
		const int answer =
			refuse(subject, PREFLIGHT_ATTACHED, remedy_here,
			       "heapinject is attached to it already, in another container (pid "
			       "%d, there %d)",
			       found, out->injector);
		out->injector = found;
		return answer;
	}
	if (arena_is_beating(arena->lo, &subject->memory))
		return refuse(subject, PREFLIGHT_ATTACHED, "end it there",
			      "heapinject is attached to it already, from where this container "
			      "does not see (there pid %d)",
			      out->injector);
	out->has_ended = has_ended(subject, arena);
	if (out->has_ended)
		return refuse(subject, PREFLIGHT_ORPHAN, remedy,
			      "an earlier session (pid %d) has ended, but left code to which calls "
			      "may still return",
			      out->injector);
	return refuse(subject, PREFLIGHT_ORPHAN, remedy,
		      "an earlier heapinject (pid %d) died while attached to it", out->injector);
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
	return refuse_distant(subject, arena, remedy);
}

/* ---- what kind of program it is -------------------------------------------------------------- */

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

/* The arena is laid out for pages of up to HI_PAGE_BYTES_MAX; not all of these were tested. */
static int check_pages(struct subject *subject)
{
	const uint64_t bytes = hi_page_bytes();

	if (bytes <= HI_ARCH_PAGE_BYTES_TESTED)
		return 0;
	return refuse(subject, PREFLIGHT_WRONG_ABI, "run it on a kernel with smaller pages",
		      "this kernel's pages have %llu kB, and sessions were tested with %u kB at "
		      "most",
		      (unsigned long long)bytes / 1024, HI_ARCH_PAGE_BYTES_TESTED / 1024);
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
	return check_pages(subject);
}
