/* SPDX-License-Identifier: MIT */
/* file_writer_test.c - whose file an empty file is. */
#include "file_writer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

UNIT_TEST(a_name_says_which_process)
{
	static const char *const others[] = {"heap",
					     "a.heap",
					     "a.1.heap",
					     "a.x.1.heap",
					     "a.1.x.heap",
					     "12.0001.heap",
					     "a.12.0001.pb",
					     ".heap",
					     "a.0.1.heap",
					     "a..1.heap",
					     "a.12.0001.heap.tmp",
					     "a.99999999999999999999.1.heap",
					     "a.3000000000.1.heap"};
	pid_t pid = 0;

	CHECK(file_writer_target("/tmp/a.b.4711.0012.heap", &pid));
	CHECK_EQ(pid, 4711);
	CHECK(file_writer_target("a.12.0001.pb.gz", &pid));
	CHECK_EQ(pid, 12);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CHECK(!file_writer_target(others[i], &pid));
}

UNIT_TEST(a_lock_shows_who_writes_and_goes_with_its_process)
{
	char path[] = "/tmp/file_writer_test.XXXXXX", byte;
	const int fd = mkstemp(path);
	int ready[2];
	pid_t pid = 0, writer;

	CHECK(fd >= 0 && !pipe(ready));
	CHECK(!file_writer_find(fd, &pid));
	writer = fork();
	if (writer == 0) {
		struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

		(void)!fcntl(fd, F_SETLK, &lock);
		(void)!write(ready[1], "", 1);
		pause();
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	CHECK(file_writer_find(fd, &pid));
	CHECK_EQ(pid, writer);
	kill(writer, SIGKILL);
	CHECK_EQ(waitpid(writer, NULL, 0), writer);
	CHECK(!file_writer_find(fd, &pid));
	close(fd);
	unlink(path);
}

UNIT_MAIN()
