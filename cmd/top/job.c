/* SPDX-License-Identifier: MIT */
/* job.c - see job.h. */
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM_STEP (64u << 10)

/* As if started by a shell: no signal is blocked, or caught by a handler of the screen. */
static void forget_signals(void)
{
	static const int numbers[] = {SIGINT,  SIGTERM, SIGHUP,   SIGQUIT, SIGTSTP,
				      SIGCONT, SIGCHLD, SIGWINCH, SIGPIPE};
	sigset_t none;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		signal(numbers[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void run(int out, int (*work)(void *), void *context)
{
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)setsid();
	forget_signals();
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(out, STDERR_FILENO) < 0)
		_exit(1);
	closefrom(STDERR_FILENO + 1);
	const int exit_code = work(context);
	fflush(stdout);
	_exit(exit_code);
}

int job_start(struct job *job, int (*work)(void *context), void *context)
{
	int ends[2];

	job_close(job);
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0)
		run(ends[1], work, context);
	const int err = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (err) {
		close(ends[0]);
		return err;
	}
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*job = (struct job){.pid = pid, .fd = ends[0]};
	return 0;
}

/* Room for some more bytes and a NUL. */
static bool make_room(struct job *job)
{
	if (job->room - job->size > 1)
		return true;
	const size_t room = 2 * job->room + ROOM_STEP;
	char *grown = room > JOB_BYTES_MAX ? NULL : realloc(job->bytes, room);

	if (!grown)
		return false;
	job->bytes = grown;
	job->room = room;
	return true;
}

/* False: the process goes on. */
static bool reap(struct job *job)
{
	int status = 0;
	const pid_t ended = waitpid(job->pid, &status, WNOHANG);

	if (!ended || (ended < 0 && errno == EINTR))
		return false;
	job->exit_code = ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	job->pid = 0;
	return true;
}

/* Reads what there is now; closes the descriptor at the end of all. */
static void read_on(struct job *job)
{
	char lost[4096];
	ssize_t got = 1;

	while (job->fd >= 0 && (got > 0 || (got < 0 && errno == EINTR))) {
		const bool has_room = make_room(job);

		got = has_room ? read(job->fd, job->bytes + job->size, job->room - job->size - 1)
			       : read(job->fd, lost, sizeof(lost));
		if (got > 0 && has_room)
			job->size += (size_t)got;
	}
	if (job->bytes)
		job->bytes[job->size] = 0;
	if (job->fd >= 0 && (got == 0 || errno != EAGAIN)) {
		close(job->fd);
		job->fd = -1;
	}
}

bool job_look(struct job *job)
{
	if (!job->pid)
		return false;
	read_on(job);
	if (!reap(job))
		return false;
	/* what it wrote last; a process that it began may hold the pipe, but has nothing to say */
	read_on(job);
	if (job->fd >= 0)
		close(job->fd);
	job->fd = -1;
	return true;
}

void job_close(struct job *job)
{
	if (job->fd >= 0)
		close(job->fd);
	free(job->bytes);
	*job = JOB_NONE;
}
