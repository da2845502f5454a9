/* SPDX-License-Identifier: MIT */
/*
 * target_memfd: of all files that may lie under a number only the new memory file of the right name
 * is opened. This process is the target.
 */
#include "target_memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "unit.h"

static int open_it(int number, int *out_fd)
{
	return target_memfd_open(getpid(), getpid(), number, "wanted", out_fd);
}

static void check_refused(int number)
{
	int fd = -1;
	CHECK(number >= 0);
	CHECK_EQ(open_it(number, &fd), -ESTALE);
	CHECK_EQ(fd, -1);
	close(number);
}

UNIT_TEST(the_new_file_is_opened_for_writing)
{
	struct stat theirs, ours;
	int fd = -1;
	const int number = memfd_create("wanted", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK_EQ(open_it(number, &fd), 0);
	CHECK(fd >= 0 && fd != number);
	CHECK_EQ(fstat(number, &theirs) | fstat(fd, &ours), 0);
	CHECK_EQ(theirs.st_ino, ours.st_ino);
	CHECK_EQ(write(fd, "x", 1), 1);
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

UNIT_TEST(no_descriptor_is_an_error_code)
{
	int fd = -1;
	CHECK_EQ(open_it(999, &fd), -ENOENT);
}

UNIT_TEST(other_memory_files_are_not_opened)
{
	check_refused(memfd_create("another", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	check_refused(memfd_create("wante", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	check_refused(memfd_create("wanted", MFD_CLOEXEC)); /* not ours: we ask for seals */
	const int full = memfd_create("wanted", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK_EQ(write(full, "x", 1), 1);
	check_refused(full);
}

/*
 * Even where it is called what a memory file is called: in a mount namespace of its own a target
 * can see to that.
 */
UNIT_TEST(files_on_a_disk_are_not_opened)
{
	char directory[] = "/dev/shm/target_memfd_test.XXXXXX", path[128];
	CHECK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/wanted", directory);
	const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	unlink(path);
	check_refused(file);
	CHECK_EQ(mkfifo(path, 0600), 0);
	check_refused(open(path, O_RDWR | O_CLOEXEC));
	unlink(path);
	rmdir(directory);
	check_refused(open("/dev/null", O_RDWR | O_CLOEXEC));
}

UNIT_TEST(a_file_that_was_bound_to_the_right_name_is_not_opened)
{
	static const char name[] = "/memfd:wanted";
	char source[] = "/dev/shm/target_memfd_test.XXXXXX", link[64] = "", path[64];
	int fd;
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		SKIP("needs the right to mount");
	const int made = mkstemp(source),
		  mountpoint = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(made >= 0 && mountpoint >= 0);
	CHECK_EQ(mount(source, name, NULL, MS_BIND, NULL), 0);
	const int number = open(name, O_RDWR | O_CLOEXEC);
	unlink(source); /* now it looks like a memory file in all but one thing */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", number);
	CHECK(readlink(path, link, sizeof(link) - 1) > 0);
	const int err = open_it(number, &fd);
	umount2(name, MNT_DETACH);
	unlink(name);
	CHECK_STR(link, "/memfd:wanted (deleted)");
	CHECK_EQ(err, -ESTALE);
}

UNIT_MAIN()
