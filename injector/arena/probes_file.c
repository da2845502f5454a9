/* SPDX-License-Identifier: MIT */
/* probes_file.c - see probes_file.h. */
#include "probes_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"
#include "probes_name.h"
#include "proc_file.h"
#include "steps.h"

#define ENTRIES_MAX (128u << 10) /* of a directory that is searched */
#define MODE_NEW 0600
#define MODE_DONE 0555

extern const uint8_t hi_probes_so[], hi_probes_so_end[];

static const char *const directories[PROBES_DIRECTORIES] = {"/tmp", "/var/tmp", "/dev/shm", "/run"};

/* ---- what killed injectors have left --------------------------------------------------------- */

/* The process of which a file by that name is; 0: it is no name of ours. */
static pid_t process_of(const char *name)
{
	char own[sizeof(((struct probes_file *)0)->name)];
	const pid_t pid = is_probes_name(name) ? atoi(name + sizeof(HI_PROBES_NAME) - 1) : 0;
	if (pid <= 0)
		return 0;
	snprintf(own, sizeof(own), HI_PROBES_NAME "%d.so", (int)pid);
	return strcmp(name, own) ? 0 : pid;
}

static bool is_like_ours(const struct stat *status)
{
	const mode_t mode = status->st_mode & 07777;
	return S_ISREG(status->st_mode) && status->st_uid == geteuid() && status->st_nlink == 1 &&
	       status->st_size <= hi_probes_so_end - hi_probes_so &&
	       (mode == MODE_NEW || mode == MODE_DONE);
}

/* The injector that created it holds its lock, in whichever pid namespace that runs. */
static bool is_abandoned(int found)
{
	const int fd = open(proc_path_of_fd(found).text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const bool is_free = fd >= 0 && !flock(fd, LOCK_SH | LOCK_NB);
	if (fd >= 0)
		close(fd);
	return is_free;
}

/* Examines the file before it is opened: opening a device may have effects. */
static void remove_if_abandoned(int directory, const char *name)
{
	struct stat status;
	const int found = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (found < 0)
		return;
	if (!fstat(found, &status) && is_like_ours(&status) && is_abandoned(found))
		(void)unlinkat(directory, name, 0);
	close(found);
}

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

/* Files of processes that are gone: nobody detaches from those any more. */
static void sweep(int directory)
{
	struct steps steps = {ENTRIES_MAX};
	const int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *const stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (const struct dirent *entry; steps_take(&steps) && (entry = readdir(stream));) {
		const pid_t pid = process_of(entry->d_name);
		if (pid && is_gone(pid))
			remove_if_abandoned(directory, entry->d_name);
	}
	closedir(stream);
}

/* ---- a new one ------------------------------------------------------------------------------- */

/* The target says what is in its root, so no link may lead out of it. */
static int open_directory(const struct roots *roots, const char *directory, int *out_fd)
{
	struct statvfs system;
	int err = 0, fd = roots_target_directory(roots, directory);
	if (fd < 0)
		return fd;
	if (fstatvfs(fd, &system))
		err = -errno;
	else if (system.f_flag & ST_RDONLY)
		err = -EROFS;
	else if (system.f_flag & ST_NOEXEC)
		err = -ENOEXEC;
	if (err)
		close(fd);
	else
		*out_fd = fd;
	return err;
}

static void name_file(pid_t pid, const char *directory, struct probes_file *file)
{
	snprintf(file->name, sizeof(file->name), HI_PROBES_NAME "%d.so", (int)pid);
	snprintf(file->path, sizeof(file->path), "%s/%s", directory, file->name);
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
 * Until it is locked another injector may take it for one that was left. A file system without
 * locks has none for that other one either.
 */
static int lock_file(struct probes_file *file)
{
	struct stat status;
	if (flock(file->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return -EEXIST;
	if (fstat(file->fd, &status))
		return -errno;
	file->device = status.st_dev;
	file->inode = status.st_ino;
	if (!status.st_nlink)
		return -EEXIST;
	return status.st_uid == geteuid() ? 0 : -EPERM; /* a file server has its own rules */
}

static int write_file(int fd)
{
	const ssize_t size = hi_probes_so_end - hi_probes_so;
	int err = fault_next("write_probes");
	if (err)
		return err;
	const ssize_t put = write(fd, hi_probes_so, (size_t)size);
	if (put < 0 || fchmod(fd, MODE_DONE))
		return -errno;
	return put == size ? 0 : -EIO;
}

/*
 * The file is the injector's own from the start. A process that can truncate it and write to it can
 * also replace a page that was mapped from it, even one that the target has written to.
 */
static int create_own(const struct roots *roots, struct probes_file *file)
{
	int err = check_rights(roots, file->directory);
	if (!err)
		err = fault_next("create_probes");
	if (err)
		return err;
	file->fd = openat(file->directory, file->name,
			  O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, MODE_NEW);
	if (file->fd < 0)
		return -errno;
	err = lock_file(file);
	return err ? err : write_file(file->fd);
}

static int create_in(struct probes_file *file, const struct roots *roots, pid_t pid,
		     const char *directory)
{
	int err = open_directory(roots, directory, &file->directory);
	if (err)
		return err;
	name_file(pid, directory, file);
	/* one attach at a time holds the lock of this process */
	(void)unlinkat(file->directory, file->name, 0);
	sweep(file->directory);
	err = create_own(roots, file);
	if (err)
		probes_file_remove(file);
	return err;
}

void probes_file_remove(struct probes_file *file)
{
	if (file->fd >= 0) {
		fault_pass("remove_probes");
		(void)unlinkat(file->directory, file->name, 0);
		close(file->fd);
	}
	if (file->directory >= 0)
		close(file->directory);
	file->fd = file->directory = -1;
}

bool probes_remove_files(const struct roots *roots, pid_t pid)
{
	struct probes_file file = PROBES_FILE_NONE;
	bool was_there = false;
	for (size_t i = 0; i < PROBES_DIRECTORIES; i++) {
		if (open_directory(roots, directories[i], &file.directory))
			continue;
		name_file(pid, directories[i], &file);
		was_there |= !unlinkat(file.directory, file.name, 0);
		sweep(file.directory);
		probes_file_remove(&file);
	}
	return was_there;
}

/* ---- why not there --------------------------------------------------------------------------- */

/* Errors that may not hold for another directory, and what they mean. */
static const struct reason {
	int err;
	bool is_by_target;
	const char *text;
} reasons[] = {
	{ENOEXEC, false, "mounted noexec"},
	{EROFS, false, "mounted read-only"},
	{ENOENT, false, "not there"},
	{ENOTDIR, false, "no directory"},
	{ELOOP, false, "a link that leads nowhere"},
	{EACCES, false, "the user who may see the process's data may not create files there"},
	{EPERM, false,
	 "heapinject may create no file of its own there (a file server's rules, an immutable "
	 "directory, a seccomp filter)"},
	{ENOSPC, false, "full"},
	{EDQUOT, false, "the quota is used up"},
	{EEXIST, false, "another program's file has the name"},
	{EOVERFLOW, false,
	 "mounted in a user namespace in which heapinject's user has no number; start heapinject "
	 "as the user who began that namespace"},
	{ENOSYS, false,
	 "heapinject has no openat2 or faccessat2 to look there with (a kernel before 5.8, or a "
	 "seccomp filter of its container: start it outside of that)"},
	{EAGAIN, false, "directories were being renamed"},
	{ENOENT, true, "the file was gone before the process opened it"},
	{EACCES, true,
	 "the process may not open that file or map code from it (AppArmor, SELinux, Landlock)"},
	{EPERM, true, "the process may not map code from there"},
	{ENODEV, true, "files there cannot be mapped"},
};

static const struct reason *find_reason(const struct probes_refused *refused)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (reasons[i].err == -refused->err &&
		    reasons[i].is_by_target == refused->is_by_target)
			return &reasons[i];
	return NULL;
}

/* err: of the directory before `next` */
static int note(struct probes_file *file, struct probes_refused refused)
{
	if (!find_reason(&refused))
		return refused.err;
	file->refused[file->next - 1] = refused;
	return 0;
}

int probes_file_create(struct probes_file *file, const struct roots *roots, pid_t pid)
{
	while (file->next < PROBES_DIRECTORIES) {
		const int err = create_in(file, roots, pid, directories[file->next++]);
		if (!err)
			return 0;
		const int failed = note(file, (struct probes_refused){.err = err});
		if (failed)
			return failed;
	}
	return -EROFS;
}

int probes_file_refuse(struct probes_file *file, int err)
{
	return note(file, (struct probes_refused){.err = err, .is_by_target = true});
}

/* Is this the first of those with its reason? */
static bool is_first(const struct probes_file *file, size_t which)
{
	for (size_t i = 0; i < which; i++)
		if (find_reason(&file->refused[i]) == find_reason(&file->refused[which]))
			return false;
	return true;
}

void probes_file_reasons(const struct probes_file *file, char text[PROBES_REASONS])
{
	size_t used = 0;
	text[0] = 0;
	for (size_t i = 0; i < PROBES_DIRECTORIES; i++) {
		const struct reason *reason = find_reason(&file->refused[i]);
		const char *separator = used ? "; " : "";
		if (!reason || !is_first(file, i))
			continue;
		for (size_t same = i; same < PROBES_DIRECTORIES; same++) {
			if (find_reason(&file->refused[same]) != reason)
				continue;
			used += (size_t)snprintf(text + used, PROBES_REASONS - used, "%s%s",
						 separator, directories[same]);
			separator = ", ";
		}
		used += (size_t)snprintf(text + used, PROBES_REASONS - used, ": %s", reason->text);
	}
}
