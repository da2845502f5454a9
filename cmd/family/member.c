/* SPDX-License-Identifier: MIT */
/* member.c - see member.h. */
#include "member.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hi_exit.h"

#define ANSWER_BYTES_MAX (4u << 20)

void member_init(struct member *member, const struct process_found *process)
{
	*member = (struct member){.process = *process, .answer_fd = -1, .log_fd = -1};
}

/* ---- the session's process ------------------------------------------------------------------- */

_Noreturn static void run(const struct member *member, const struct session_options *options,
			  pid_t parent)
{
	sigset_t none;

	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || dup2(member->answer_fd, STDOUT_FILENO) < 0 ||
	    dup2(member->log_fd, STDERR_FILENO) < 0)
		_exit(HI_EXIT_FAILED);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	const int exit_code = session_attach(options);
	fflush(NULL);
	_exit(exit_code);
}

static int open_files(struct member *member)
{
	member->answer_fd = memfd_create("answer", MFD_CLOEXEC);
	member->log_fd = memfd_create("log", MFD_CLOEXEC);
	if (member->answer_fd < 0 || member->log_fd < 0)
		return -errno;
	member->outcome = mmap(NULL, sizeof(*member->outcome), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (member->outcome == MAP_FAILED)
		member->outcome = NULL;
	return member->outcome ? 0 : -errno;
}

int member_start(struct member *member, const struct session_options *options)
{
	struct session_options own = *options;
	const pid_t parent = getpid();

	if (!process_found_is_there(&member->process)) {
		member->state = MEMBER_GONE;
		return 0;
	}
	const int err = open_files(member);
	if (err)
		return err;
	own.pid = member->process.pid;
	own.outcome = member->outcome;
	own.json = true;
	own.family = parent;
	fflush(NULL);
	const pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		run(member, &own, parent);
	(void)setpgid(pid, pid);
	member->session = pid;
	member->state = MEMBER_RUNS;
	return 0;
}

void member_end(struct member *member, int status)
{
	member->killed_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	member->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : HI_EXIT_FAILED;
	member->session = 0;
	member->state = MEMBER_ENDED;
	/* an attach that found nobody harmed nobody */
	if (member->exit_code != HI_EXIT_OK && !member->outcome->is_attached &&
	    !process_found_is_there(&member->process))
		member->state = MEMBER_GONE;
}

/* ---- what it says ---------------------------------------------------------------------------- */

bool member_next_line(struct member *member, char line[MEMBER_LINE_MAX])
{
	const ssize_t got = member->log_fd < 0 ? 0
					       : pread(member->log_fd, line, MEMBER_LINE_MAX - 1,
						       member->shown);
	char *end = got > 0 ? memchr(line, '\n', (size_t)got) : NULL;

	/* a line that is longer comes in parts */
	if (!end && got == MEMBER_LINE_MAX - 1)
		end = line + got;
	if (!end)
		return false;
	member->shown += end - line + (end < line + got);
	*end = 0;
	return true;
}

char *member_answer(const struct member *member)
{
	char *text = member->answer_fd < 0 ? NULL : calloc(1, ANSWER_BYTES_MAX);
	const ssize_t got = text ? pread(member->answer_fd, text, ANSWER_BYTES_MAX - 1, 0) : 0;

	while (got > 0 && text[strlen(text) - 1] == '\n')
		text[strlen(text) - 1] = 0;
	if (text && *text == '{')
		return text;
	free(text);
	return NULL;
}

static void close_one(struct member *member)
{
	if (member->answer_fd >= 0)
		close(member->answer_fd);
	if (member->log_fd >= 0)
		close(member->log_fd);
	if (member->outcome)
		munmap(member->outcome, sizeof(*member->outcome));
}

void members_close(struct members *members)
{
	for (size_t i = 0; i < members->count; i++)
		close_one(&members->member[i]);
	free(members->member);
	members->member = NULL;
	members->count = members->room = 0;
}
