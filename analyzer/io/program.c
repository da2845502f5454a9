/* SPDX-License-Identifier: MIT */
/*
 * program.c - see program.h.
 *
 * Input, output and error output are memory files, not pipes. So the program reads and writes at
 * its own pace, and neither side waits for the other.
 */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "printable.h"

static int write_all(int fd, const struct program_input *input)
{
	size_t done = 0;

	while (done < input->size) {
		const ssize_t size = write(fd, input->bytes + done, input->size - done);
		if (size < 0 && errno != EINTR)
			return -errno;
		done += size > 0 ? (size_t)size : 0;
	}
	return lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

static int copy_all(int fd, FILE *out)
{
	char chunk[1 << 14];
	ssize_t size;

	for (off_t at = 0; (size = pread(fd, chunk, sizeof(chunk), at)) > 0; at += size) {
		if (fwrite(chunk, 1, (size_t)size, out) != (size_t)size)
			return -EIO;
	}
	return size < 0 ? -errno : 0;
}

static void read_first_line(int fd, char err[256])
{
	const ssize_t size = pread(fd, err, 255, 0);

	err[size > 0 ? size : 0] = 0;
	err[strcspn(err, "\n")] = 0;
	printable(err);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/*
 * False if the child has not ended in that time. True also where this cannot be known (kernels
 * before 5.3): then the caller waits without a limit.
 */
static bool has_ended_in(pid_t pid, unsigned int patience_ms)
{
	const uint64_t end = now_ms() + patience_ms;
	const int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	int ready;

	if (fd < 0)
		return true;
	do {
		const uint64_t now = now_ms();

		ready = poll(&wait, 1, now < end ? (int)(end - now) : 0);
	} while (ready < 0 && errno == EINTR);
	close(fd);
	return ready != 0;
}

/* Waits for the end of a child. */
static int reap(pid_t pid, unsigned int patience_ms)
{
	const bool is_late = patience_ms && !has_ended_in(pid, patience_ms);
	pid_t ended;
	int status;

	if (is_late)
		kill(pid, SIGKILL);
	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (is_late)
		return -ETIMEDOUT;
	return ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

/* Runs in the child, which becomes the program. Returns, with an errno, only if that fails. */
static int become(char *const argv[], const int files[3], pid_t parent)
{
	/*
	 * If we are killed, the kernel kills the child: nothing else would end it. The signal
	 * follows the end of the thread that forked, and that thread waits for the child.
	 */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return errno;
	if (getppid() != parent)
		_exit(EXIT_FAILURE); /* the parent was killed before the prctl */
	for (int i = 0; i < 3; i++) {
		if (dup2(files[i], i) < 0)
			return errno;
	}
	execvp(argv[0], argv);
	return errno;
}

/*
 * files: they become descriptors 0, 1, 2 of the program. If the start fails, the child says why in
 * a shared word. A descriptor for that could have a number that those three need.
 */
static int run(char *const argv[], const int files[3], unsigned int patience_ms)
{
	int *failure = mmap(NULL, sizeof(*failure), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const pid_t parent = getpid();
	int err;

	if (failure == MAP_FAILED)
		return -errno;
	const pid_t pid = fork();
	if (pid == 0) {
		*failure = become(argv, files, parent);
		_exit(EXIT_FAILURE);
	}
	err = pid < 0 ? -errno : reap(pid, patience_ms);
	err = *failure ? -*failure : err;
	munmap(failure, sizeof(*failure));
	return err;
}

/*
 * A memory file whose descriptor is not 0, 1 or 2, so that moving one there does not overwrite
 * another.
 */
static int open_file(void)
{
	const int fd = memfd_create("filter", MFD_CLOEXEC);

	if (fd < 0 || fd > STDERR_FILENO)
		return fd < 0 ? -errno : fd;
	const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return moved < 0 ? -errno : moved;
}

int program_filter(char *const argv[], const struct program_input *input, FILE *out,
		   char error_text[256])
{
	int files[3], err = 0;

	error_text[0] = 0;
	for (int i = 0; i < 3; i++) {
		files[i] = open_file();
		err = files[i] < 0 ? files[i] : err;
	}
	if (!err)
		err = write_all(files[0], input);
	if (!err)
		err = run(argv, files, input->patience_ms);
	if (err == -EIO)
		read_first_line(files[2], error_text);
	if (!err)
		err = copy_all(files[1], out);
	for (int i = 0; i < 3; i++) {
		if (files[i] >= 0)
			close(files[i]);
	}
	return err;
}
