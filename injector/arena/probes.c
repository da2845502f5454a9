/* SPDX-License-Identifier: MIT */
/* probes.c - see probes.h. */
#include "probes.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "proc_file.h"
#include "seccomp_filter.h"
#include "target_memfd.h"

extern const uint8_t hi_probes_so[], hi_probes_so_end[];

/* ---- the object ------------------------------------------------------------------------------ */

static uint64_t offset_of(Elf *elf, Elf_Scn *section, const char *name)
{
	Elf_Data *const data = elf_getdata(section, NULL);
	GElf_Shdr header;
	GElf_Sym symbol;
	if (!data || !gelf_getshdr(section, &header))
		return 0;
	for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
		const char *found = elf_strptr(elf, header.sh_link, symbol.st_name);
		if (found && !strcmp(found, name) && symbol.st_value < PROBES_BYTES)
			return symbol.st_value;
	}
	return 0;
}

/* Offset and address in the object are the same. 0: it has no such function. */
static uint64_t find_function(const char *name)
{
	Elf *const elf = elf_memory((char *)(uintptr_t)hi_probes_so,
				    (size_t)(hi_probes_so_end - hi_probes_so));
	uint64_t offset = 0;
	for (Elf_Scn *section = NULL; elf && !offset && (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			offset = offset_of(elf, section, name);
	}
	elf_end(elf);
	return offset;
}

/* ---- the file -------------------------------------------------------------------------------- */

static int open_roots(pid_t pid, pid_t tid, struct roots *out_roots)
{
	struct proc_status status;
	const int err = proc_status_read(pid, tid, &status);
	if (!err)
		roots_open(out_roots, pid, tid, &status);
	return err;
}

int probes_create(struct probes *probes, pid_t pid, pid_t tid)
{
	struct roots roots;
	probes_remove(probes);
	probes->alloc = find_function("otel_memory_alloc");
	probes->free = find_function("otel_memory_free");
	int err = probes->alloc && probes->free ? open_roots(pid, tid, &roots) : -EINVAL;
	if (err)
		return err;
	err = probes_file_create(&probes->file, &roots, pid);
	roots_close(&roots);
	return err;
}

void probes_remove(struct probes *probes)
{
	probes_file_remove(&probes->file);
}

bool probes_remove_left(pid_t pid, pid_t tid)
{
	struct roots roots;
	if (open_roots(pid, tid, &roots))
		return false;
	const bool removed = probes_remove_files(&roots, pid);
	roots_close(&roots);
	return removed;
}

/* ---- in the target --------------------------------------------------------------------------- */

/*
 * Has the thread open whatever lies there. The error of another kind of file, or of one that is
 * leased, says that it is not ours.
 */
static int open_in_target(struct remote *remote, struct probes_file *file, int *out_number)
{
	int64_t opened = 0;
	int err = memory_write(remote->memory, remote->scratch, file->path, strlen(file->path) + 1);
	if (!err)
		err = remote_syscall(
			remote, SYS_openat,
			(uint64_t[6]){(uint32_t)AT_FDCWD, remote->scratch, PROBES_OPEN_FLAGS},
			&opened);
	if (err)
		return err;
	*out_number = (int)opened;
	if (opened == -ELOOP || opened == -ENXIO || opened == -EAGAIN)
		return -ESTALE;
	return opened < 0 ? probes_file_refuse(file, (int)opened) : 0;
}

static int map_opened(struct remote *remote, remote_addr at, int number, struct probes *probes)
{
	int64_t mapped = 0;
	const int err = remote_syscall(remote, SYS_mmap,
				       (uint64_t[6]){at, PROBES_BYTES, PROT_READ | PROT_EXEC,
						     MAP_PRIVATE | MAP_FIXED, (uint64_t)number, 0},
				       &mapped);
	if (err)
		return err;
	if (mapped == -EAGAIN) /* to callers that means that no thread could be borrowed */
		return -ENOBUFS;
	if (mapped < 0 && mapped > -4096)
		return probes_file_refuse(&probes->file, (int)mapped);
	probes->is_mapped = true;
	return 0;
}

/* What the number refers to in the target. */
static int look_at(const struct tracee *tracee, int number, struct stat *out_status)
{
	char name[32];
	snprintf(name, sizeof(name), "fd/%d", number);
	return stat(proc_path(tracee->pid, tracee->tid, name).text, out_status) ? -errno : 0;
}

/*
 * Closes what was opened, by whichever name it goes now. The program may have closed it, and have
 * another file under the number.
 */
static int close_in_target(struct remote *remote, int number, const struct stat *opened)
{
	const struct tracee *tracee = &remote->tracee;
	struct stat now;
	if (!target_memfd_is_ours(tracee->pid, tracee->tid, number) &&
	    (look_at(tracee, number, &now) || now.st_dev != opened->st_dev ||
	     now.st_ino != opened->st_ino))
		return 0;
	return remote_syscall_or_fail(remote, SYS_close, (uint64_t[6]){(uint64_t)number}, NULL);
}

static int map_file(struct probes *probes, struct remote *remote, remote_addr at)
{
	struct probes_file *file = &probes->file;
	struct stat opened = {0};
	int number;
	int err = open_in_target(remote, file, &number);
	if (err || number < 0)
		return err;
	err = look_at(&remote->tracee, number, &opened);
	/* another may have taken its name */
	if (!err && (opened.st_dev != file->device || opened.st_ino != file->inode))
		err = -ESTALE;
	if (!err)
		err = map_opened(remote, at, number, probes);
	const int closed = close_in_target(remote, number, &opened);
	return err ? err : closed;
}

/*
 * Makes the page the target's own, and then compares it: another program may have written to the
 * file.
 */
static int check_page(const struct memory *memory, remote_addr at)
{
	uint8_t wanted[PROBES_BYTES] = {0}, mapped[PROBES_BYTES];
	const size_t size = (size_t)(hi_probes_so_end - hi_probes_so);
	memcpy(wanted, hi_probes_so, size < sizeof(wanted) ? size : sizeof(wanted));
	const int err = memory_write(memory, at, wanted, sizeof(uint64_t));
	if (err)
		return err;
	return memory_read(memory, at, mapped, sizeof(mapped)) ||
			       memcmp(mapped, wanted, sizeof(wanted)) != 0
		       ? -ESTALE
		       : 0;
}

int probes_map(struct probes *probes, struct arena *arena, struct remote *remote)
{
	struct hi_control *control = arena->control;
	const remote_addr at = control->arena + control->probes.offset;
	int err = map_file(probes, remote, at);
	if (!err && probes->is_mapped)
		err = check_page(remote->memory, at);
	probes->is_swapped = err == -ESTALE;
	if (err || !probes->is_mapped)
		return err;
	err = remote_syscall_or_fail(remote, SYS_madvise,
				     (uint64_t[6]){at, PROBES_BYTES, MADV_DONTDUMP}, NULL);
	if (err)
		return err;
	control->probe_alloc = at + probes->alloc;
	control->probe_free = at + probes->free;
	return 0;
}
