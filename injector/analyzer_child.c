/* SPDX-License-Identifier: MIT */
/* analyzer_child.c - see analyzer_child.h. */
#include "analyzer_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define STREAM_PIPE_BYTES (1 << 20)

struct pipes {
	int stream[2], status[2], summary[2];
};

static void close_pair(const int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

static int open_pipes(struct pipes *pipes)
{
	if (pipe2(pipes->stream, O_CLOEXEC))
		return -errno;
	if (pipe2(pipes->status, O_CLOEXEC | O_NONBLOCK)) {
		const int err = -errno;
		close_pair(pipes->stream);
		return err;
	}
	if (pipe2(pipes->summary, O_CLOEXEC)) {
		const int err = -errno;
		close_pair(pipes->stream);
		close_pair(pipes->status);
		return err;
	}
	(void)fcntl(pipes->stream[1], F_SETPIPE_SZ, STREAM_PIPE_BYTES); /* fewer wake-ups; an ordinary pipe does as well */
	return fcntl(pipes->stream[1], F_SETFL, O_NONBLOCK) ? -errno : 0;
}

/* Ctrl-C at the terminal goes to the whole group; the child must outlive it to write the files. It ends when the stream does. */
_Noreturn static void run_child(const struct pipes *pipes, int heap_fd, int pprof_fd)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error to report */
	close(pipes->stream[1]);
	close(pipes->status[0]);
	close(pipes->summary[0]);
	const struct hi_analyzer_outputs outputs = {
		.stream_fd = pipes->stream[0],
		.status_fd = pipes->status[1],
		.heap_fd = heap_fd,
		.pprof_fd = pprof_fd,
		.summary_fd = pipes->summary[1],
	};
	_exit(hi_analyzer_collect(&outputs));
}

int analyzer_child_start(struct analyzer_child *child, int heap_fd, int pprof_fd)
{
	struct pipes pipes;
	int err = open_pipes(&pipes);
	if (err)
		return err;
	const pid_t pid = fork();
	if (pid == 0)
		run_child(&pipes, heap_fd, pprof_fd);
	err = pid < 0 ? -errno : 0;
	close(pipes.stream[0]);
	close(pipes.status[1]);
	close(pipes.summary[1]);
	if (err) {
		close(pipes.stream[1]);
		close(pipes.status[0]);
		close(pipes.summary[0]);
		return err;
	}
	*child = (struct analyzer_child){.pid = pid, .stream_fd = pipes.stream[1], .status_fd = pipes.status[0], .summary_fd = pipes.summary[0]};
	return 0;
}

int analyzer_child_status(const struct analyzer_child *child, struct hi_analyzer_status *out_status)
{
	struct hi_analyzer_status status;
	int found = 0;
	while (read(child->status_fd, &status, sizeof status) == (ssize_t)sizeof status) {
		*out_status = status;
		found = 1;
	}
	return found;
}

static int reap(struct analyzer_child *child)
{
	int status = 0;
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(child->status_fd);
	close(child->summary_fd);
	child->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ECANCELED;
}

int analyzer_child_finish(struct analyzer_child *child, FILE *out)
{
	char text[4096];
	ssize_t got;
	close(child->stream_fd);
	while ((got = read(child->summary_fd, text, sizeof text)) > 0 || (got < 0 && errno == EINTR))
		if (got > 0)
			fwrite(text, 1, (size_t)got, out);
	return reap(child);
}

void analyzer_child_abandon(struct analyzer_child *child)
{
	if (!child->pid)
		return;
	close(child->stream_fd);
	kill(child->pid, SIGKILL);
	reap(child);
}
