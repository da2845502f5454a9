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
#include "run.h"

#define ANSWER_BYTES_MAX (4u << 20)

void member_init(struct member *member, const struct process_found *process)
{
	*member = (struct member){.process = *process, .answer_fd = -1, .log_fd = -1};
}

/* ---- the session's process ------------------------------------------------------------------- */

/* If the command is killed, the session ends; a program must not get a signal for that. */
static void part_from_command(void)
{
	sigset_t none;

	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void run(const struct member *member, struct session_options *options, char **argv)
{
	if (!argv)
		part_from_command();
	if (getppid() != options->family || dup2(member->answer_fd, STDOUT_FILENO) < 0 ||
	    dup2(member->log_fd, STDERR_FILENO) < 0)
		_exit(HI_EXIT_FAILED);
	const int exit_code = argv ? run_program(options, argv) : session_attach(options);
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

static int start(struct member *member, const struct session_options *options, char **argv)
{
	struct session_options own = *options;
	const int err = open_files(member);

	if (err)
		return err;
	own.pid = member->process.pid;
	own.outcome = member->outcome;
	own.json = true;
	own.family = getpid();
	fflush(NULL);
	const pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		run(member, &own, argv);
	if (!argv)
		(void)setpgid(pid, pid);
	member->session = pid;
	member->state = MEMBER_RUNS;
	return 0;
}

int member_start(struct member *member, const struct session_options *options)
{
	if (!member->mark.size)
		program_mark_read(member->process.pid, &member->mark);
	if (process_found_is_there(&member->process))
		return start(member, options, NULL);
	member->state = MEMBER_GONE;
	return 0;
}

int member_start_program(struct member *member, const struct session_options *options, char **argv)
{
	member->is_program = true;
	snprintf(member->process.comm, sizeof(member->process.comm), "%.15s", basename(argv[0]));
	return start(member, options, argv);
}

void member_meet_program(struct member *member)
{
	const pid_t pid = member->outcome ? member->outcome->program : 0;

	if (!member->is_program || member->process.pid || !pid)
		return;
	program_mark_read(pid, &member->mark);
	if (process_found_read(pid, &member->process)) /* it has ended already */
		member->process.pid = pid;
}

static void close_files(struct member *member)
{
	if (member->answer_fd >= 0)
		close(member->answer_fd);
	if (member->log_fd >= 0)
		close(member->log_fd);
	if (member->outcome)
		munmap(member->outcome, sizeof(*member->outcome));
	member->answer_fd = member->log_fd = -1;
	member->outcome = NULL;
	member->shown = 0;
}

/* Of a process that was not attached to: is it what it was? */
static void look_again(struct member *member)
{
	const struct process_found before = member->process;
	struct program_mark now;

	if (!process_found_is_there(&before)) {
		member->state = MEMBER_GONE;
		return;
	}
	program_mark_read(before.pid, &now);
	if (!now.size || !member->mark.size || program_mark_is_same(&now, &member->mark))
		return;
	if (member->parent || member->is_again ||
	    process_found_read(before.pid, &member->process) ||
	    strcmp(before.comm, member->process.comm) != 0) {
		member->state = MEMBER_GONE;
		member->why = "executed another program before it was attached to";
		return;
	}
	close_files(member);
	member->mark = now;
	member->is_again = true;
	member->state = MEMBER_WAITS;
}

void member_end(struct member *member, int status)
{
	member->killed_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	member->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : HI_EXIT_FAILED;
	if (member->outcome->has_exited && !member->killed_by)
		member->exit_code = member->outcome->session_exit;
	member->session = 0;
	member->state = MEMBER_ENDED;
	/* an attach that found nobody harmed nobody */
	if (member->exit_code != HI_EXIT_OK && !member->outcome->is_attached && !member->is_program)
		look_again(member);
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

int members_add(struct members *members, const struct process_found *process)
{
	if (members->count == members->room) {
		const size_t room = 2 * members->room + 16;
		struct member *grown = realloc(members->member, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		members->member = grown;
		members->room = room;
	}
	member_init(&members->member[members->count++], process);
	return 0;
}

void members_close(struct members *members)
{
	for (size_t i = 0; i < members->count; i++)
		close_files(&members->member[i]);
	free(members->member);
	members->member = NULL;
	members->count = members->room = 0;
}
