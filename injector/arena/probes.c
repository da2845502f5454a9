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
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena_file.h"
#include "fault.h"
#include "proc_file.h"
#include "roots.h"
#include "seccomp_filter.h"

#define NAME_BYTES 64
#define PATH_BYTES 96

extern const uint8_t hi_probes_so[], hi_probes_so_end[];

/* The first that takes the file and lets code be mapped from it. */
static const char *const directories[] = {"/tmp", "/var/tmp", "/dev/shm", "/run"};
#define DIRECTORIES (sizeof(directories) / sizeof(*directories))

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

struct file {
	char name[NAME_BYTES];
	int directory; /* our descriptor of the target's directory */
	char path[PATH_BYTES];
	int fd; /* ours: while it is open, no other file has the inode's number */
};

/* The target says what is in its root, so no link may lead out of it. */
static int open_directory(const struct roots *roots, const char *directory, int *out_fd)
{
	struct statvfs system;
	int err = 0, fd = roots_target_directory(roots, directory);
	if (fd < 0)
		return fd;
	if (fstatvfs(fd, &system))
		err = -errno;
	else if (system.f_flag & (ST_NOEXEC | ST_RDONLY))
		err = -EROFS;
	if (err)
		close(fd);
	else
		*out_fd = fd;
	return err;
}

static void name_file(pid_t pid, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, HI_PROBES_NAME "%d.so", (int)pid);
}

static int write_file(int fd)
{
	const ssize_t size = hi_probes_so_end - hi_probes_so;
	int err = fault_next("write_probes");
	if (err)
		return err;
	struct stat status;
	const ssize_t put = write(fd, hi_probes_so, (size_t)size);
	if (put < 0 || fchmod(fd, 0555) || fstat(fd, &status))
		return -errno;
	if (status.st_uid != geteuid()) /* a file server has its own rules */
		return -EPERM;
	return put == size ? 0 : -EIO;
}

/* Whether the user who may see the target's data may create files in the directory. */
static int check_rights(const struct roots *roots, int directory)
{
	struct identity_window window;
	int err = identity_begin(roots->reader, &window);
	if (err)
		return err;
	if (syscall(SYS_faccessat2, directory, ".", W_OK | X_OK, AT_EACCESS))
		err = -errno;
	identity_end(&window);
	return err;
}

/*
 * The file is the injector's own from the start. A process that can truncate it and write to it can
 * also replace a page that was mapped from it, even one that the target has written to.
 */
static int create_own(const struct roots *roots, struct file *file)
{
	int err = check_rights(roots, file->directory);
	if (err)
		return err;
	file->fd = openat(file->directory, file->name,
			  O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
	return file->fd < 0 ? -errno : write_file(file->fd);
}

static void remove_file(struct file *file)
{
	(void)unlinkat(file->directory, file->name, 0);
	if (file->fd >= 0)
		close(file->fd);
	close(file->directory);
}

static int create_file(const struct remote *remote, const struct roots *roots,
		       const char *directory, struct file *file)
{
	int err = open_directory(roots, directory, &file->directory);
	file->fd = -1;
	if (err)
		return err;
	/* one attach at a time holds the lock of this process */
	name_file(remote->tracee.pid, file->name);
	snprintf(file->path, sizeof(file->path), "%s/%s", directory, file->name);
	(void)unlinkat(file->directory, file->name, 0);
	err = create_own(roots, file);
	if (err)
		remove_file(file);
	return err;
}

static int open_roots(pid_t pid, pid_t tid, struct roots *out_roots)
{
	struct proc_status status;
	const int err = proc_status_read(pid, tid, &status);
	if (!err)
		roots_open(out_roots, pid, tid, &status);
	return err;
}

void probes_remove_files(pid_t pid, pid_t tid)
{
	struct roots roots;
	struct file file = {.fd = -1};
	if (open_roots(pid, tid, &roots))
		return;
	name_file(pid, file.name);
	for (size_t i = 0; i < DIRECTORIES; i++)
		if (!open_directory(&roots, directories[i], &file.directory))
			remove_file(&file);
	roots_close(&roots);
}

/* ---- in the target --------------------------------------------------------------------------- */

/* Whether the target's descriptor is that of our file: another may have taken its name. */
static int check_opened(const struct tracee *tracee, int number, int own)
{
	char name[32];
	struct stat opened, wanted;
	snprintf(name, sizeof(name), "fd/%d", number);
	if (stat(proc_path(tracee->pid, tracee->tid, name).text, &opened) || fstat(own, &wanted))
		return -errno;
	return opened.st_dev == wanted.st_dev && opened.st_ino == wanted.st_ino ? 0 : -ESTALE;
}

static int map_file(struct remote *remote, remote_addr at, const struct file *file)
{
	uint64_t fd;
	int err = memory_write(remote->memory, remote->scratch, file->path, strlen(file->path) + 1);
	if (!err) /* not to wait, if a fifo or a lease is in the way */
		err = remote_syscall_or_fail(
			remote, SYS_openat,
			(uint64_t[6]){(uint32_t)AT_FDCWD, remote->scratch, PROBES_OPEN_FLAGS}, &fd);
	if (err)
		return err;
	err = check_opened(&remote->tracee, (int)fd, file->fd);
	if (!err)
		err = remote_syscall_or_fail(remote, SYS_mmap,
					     (uint64_t[6]){at, PROBES_BYTES, PROT_READ | PROT_EXEC,
							   MAP_PRIVATE | MAP_FIXED, fd, 0},
					     NULL);
	const int closed = arena_close_fd(remote, (int)fd);
	return err ? err : closed;
}

/*
 * Makes the page the target's own, and then compares it: another file may have been there under
 * that name.
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

static int map_from(struct remote *remote, const struct roots *roots, remote_addr at,
		    const char *directory)
{
	struct file file;
	int err = create_file(remote, roots, directory, &file);
	if (err)
		return err;
	err = map_file(remote, at, &file);
	remove_file(&file);
	return err;
}

int probes_map(struct arena *arena, struct remote *remote)
{
	struct hi_control *control = arena->control;
	const remote_addr at = control->arena + control->probes.offset;
	const uint64_t alloc = find_function("otel_memory_alloc"),
		       free = find_function("otel_memory_free");
	struct roots roots;
	int err = alloc && free ? open_roots(remote->tracee.pid, remote->tracee.tid, &roots)
				: -EINVAL;
	if (err)
		return err;
	err = -EROFS;
	for (size_t i = 0; i < DIRECTORIES && err == -EROFS; i++) {
		err = map_from(remote, &roots, at, directories[i]);
		/* reasons that may not hold for another directory */
		if (err == -ENOENT || err == -EACCES || err == -EPERM || err == -ENOSPC ||
		    err == -EDQUOT || err == -EEXIST || err == -ENOTDIR || err == -EOVERFLOW)
			err = -EROFS;
	}
	roots_close(&roots);
	if (!err)
		err = check_page(remote->memory, at);
	if (!err)
		err = remote_syscall_or_fail(remote, SYS_madvise,
					     (uint64_t[6]){at, PROBES_BYTES, MADV_DONTDUMP}, NULL);
	if (err)
		return err;
	control->probe_alloc = at + alloc;
	control->probe_free = at + free;
	return 0;
}
