/* SPDX-License-Identifier: MIT */
/* session_detached.c - see session_detached.h. */
#include "session_detached.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hi_exit.h"
#include "hi_path.h"

/* ---- the command ----------------------------------------------------------------------------- */

static pid_t session; /* of the command: its child */

static void pass_on(int number)
{
	kill(session, number);
}

/* Who ends the command before the process is attached to, ends the session. */
static void pass_signals_on(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const struct sigaction passing = {.sa_handler = pass_on, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct sigaction before;

		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &passing, NULL);
	}
}

/* Returns the exit code of a session that has not begun. */
static int await_end(void)
{
	int status = 0;

	while (waitpid(session, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) != HI_EXIT_OK)
		return WEXITSTATUS(status);
	fprintf(stderr, "heapinject: the session has ended before it has begun\n");
	return HI_EXIT_FAILED;
}

static int await_beginning(int told, bool quiet)
{
	char path[PATH_MAX] = "";
	ssize_t got;

	do
		got = read(told, path, sizeof(path) - 1);
	while (got < 0 && errno == EINTR);
	close(told);
	if (got <= 0)
		return await_end();
	printf("%d\n", (int)session);
	if (!quiet)
		fprintf(stderr, "heapinject: the session is process %d; its messages go to %s\n",
			(int)session, path);
	return HI_EXIT_OK;
}

bool session_detached_fork(struct session_detached *detached, bool quiet, int *out_exit_code)
{
	int ends[2];

	*out_exit_code = HI_EXIT_OK;
	fflush(NULL);
	session = pipe2(ends, O_CLOEXEC) ? -1 : fork();
	if (session < 0) {
		fprintf(stderr, "heapinject: cannot begin a session of its own: %s\n",
			strerror(errno));
		*out_exit_code = HI_EXIT_FAILED;
		return true;
	}
	if (session) {
		pass_signals_on();
		close(ends[1]);
		*out_exit_code = await_beginning(ends[0], quiet);
		return true;
	}
	close(ends[0]);
	*detached = (struct session_detached){
		.is_on = true, .tell = ends[1], .stderr_fd = -1, .directory = -1};
	return false;
}

/* ---- the session ----------------------------------------------------------------------------- */

int session_detached_log(struct session_detached *detached, const struct outputs *outputs)
{
	if (!detached->is_on)
		return 0;
	char path[PATH_MAX];
	const int log = outputs_create_beside(outputs, "log", path);
	if (log < 0)
		return log;
	outputs_absolute(outputs, path, detached->path);
	fflush(NULL);
	/* messages of several processes, each at the end */
	(void)fcntl(log, F_SETFL, O_APPEND);
	detached->directory = fcntl(outputs->directory_fd, F_DUPFD_CLOEXEC, 0);
	detached->stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	const int failed = dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0;
	const int err = failed ? -errno : 0;
	close(log);
	return err;
}

/* Copies what the log has so far to the command's standard error. */
static void show_log(struct session_detached *detached)
{
	char text[4096];
	ssize_t got;
	const int log = openat(detached->directory, hi_base_name(detached->path),
			       O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	fflush(NULL);
	while (log >= 0 && (got = read(log, text, sizeof(text))) > 0)
		if (write(detached->stderr_fd, text, (size_t)got) != got)
			break;
	if (log >= 0)
		close(log);
	close(detached->stderr_fd);
	detached->stderr_fd = -1;
}

bool session_detached_tell(struct session_detached *detached)
{
	if (!detached->is_on)
		return true;
	const ssize_t size = (ssize_t)strlen(detached->path);
	const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (nothing >= 0) {
		(void)dup2(nothing, STDIN_FILENO);
		close(nothing);
	}
	show_log(detached);
	(void)setsid();
	const bool is_told = write(detached->tell, detached->path, (size_t)size) == size;
	close(detached->tell);
	detached->tell = -1;
	/* so that no file system is kept busy; files are opened in directories that are open */
	if (is_told)
		(void)!chdir("/");
	return is_told;
}

void session_detached_close(struct session_detached *detached)
{
	if (!detached->is_on || !*detached->path || detached->tell < 0)
		return;
	show_log(detached);
	unlinkat(detached->directory, hi_base_name(detached->path), 0);
}
