/* SPDX-License-Identifier: MIT */
/* family.c - see family.h. Start at family_run(). */
#include "family.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "family_follow.h"
#include "family_print.h"
#include "family_say.h"
#include "family_signals.h"
#include "family_state.h"
#include "hi_exit.h"
#include "run.h"

#define ROUND_MS 100           /* children that live for less are not seen (children.h) */
#define LEFT_NS_MIN 500000000u /* a session that would be shorter is not begun */
/* of those that have not attached yet: each takes a good part of a CPU for that */
#define ATTACHING_MAX 2u

/* ---- members --------------------------------------------------------------------------------- */

static size_t count_in(const struct family *family, enum member_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < family->all.count; i++)
		count += family->all.member[i].state == state;
	return count;
}

static size_t count_attaching(const struct family *family)
{
	size_t count = 0;

	for (size_t i = 0; i < family->all.count; i++)
		count += family->all.member[i].state == MEMBER_RUNS &&
			 !family->all.member[i].has_begun;
	return count;
}

/* err: 0, or why its session did not begin. */
static void complain(struct family *family, struct member *member, int err)
{
	char line[128];

	if (!err)
		return;
	member->state = MEMBER_ENDED;
	member->exit_code = HI_EXIT_FAILED;
	snprintf(line, sizeof(line), "heapinject: %d: cannot begin a session: %s",
		 (int)member->process.pid, strerror(-err));
	progress_complain(&family->progress, line);
}

static void start(struct family *family, struct member *member)
{
	struct session_options own = *family->options->session;

	if (member->parent && family_left_ns(family) < LEFT_NS_MIN) {
		member->state = MEMBER_GONE;
		member->why = "was forked too near the end";
		return;
	}
	if (member->parent && own.duration_ns)
		own.duration_ns = family_left_ns(family);
	complain(family, member, member_start(member, &own));
}

/* It has ended, and what it has forked goes on. */
static void note_end_of_program(struct family *family)
{
	const struct member *program = &family->all.member[0];
	const size_t others = count_in(family, MEMBER_RUNS) + count_in(family, MEMBER_WAITS);
	char line[160];

	if (family->is_end_noted || !program->is_program || program->state != MEMBER_ENDED ||
	    !others)
		return;
	family->is_end_noted = true;
	snprintf(line, sizeof(line),
		 "heapinject: the program has ended, and processes that it has forked go on; "
		 "Ctrl-C or SIGTERM ends their sessions, and not them");
	if (!family->options->session->quiet)
		progress_complain(&family->progress, line);
}

/* Those whose turn it is. */
static void start_next(struct family *family)
{
	size_t attaching = count_attaching(family);

	for (size_t i = 0; i < family->all.count && attaching < ATTACHING_MAX; i++) {
		struct member *member = &family->all.member[i];

		if (member->state != MEMBER_WAITS)
			continue;
		if (family->is_ending) {
			member->state = MEMBER_GONE;
			member->why = "was not attached to: the command was ended before";
			continue;
		}
		start(family, member);
		attaching += member->state == MEMBER_RUNS;
	}
}

static struct member *find_session(const struct family *family, pid_t session)
{
	for (size_t i = 0; i < family->all.count; i++)
		if (family->all.member[i].session == session)
			return &family->all.member[i];
	return NULL;
}

static void reap(struct family *family)
{
	int status;

	for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
		struct member *member = find_session(family, pid);

		if (!member)
			continue;
		if (!WIFSTOPPED(status))
			member_end(member, status);
		else if (member->is_program)
			family_signals_stop_with(member);
	}
}

/* ---- from the first to the last -------------------------------------------------------------- */

static bool goes_on(const struct family *family)
{
	return count_in(family, MEMBER_RUNS) || count_in(family, MEMBER_WAITS) ||
	       (!family->is_ending && children_are_awaited(&family->children) &&
		family_left_ns(family));
}

static void run(struct family *family)
{
	while (goes_on(family)) {
		struct pollfd wait = {family->signal_fd, POLLIN, 0};

		start_next(family);
		(void)poll(&wait, 1, ROUND_MS);
		family_signals_serve(family);
		if (family->options->argv)
			member_meet_program(&family->all.member[0]);
		reap(family);
		family_follow(family);
		family_pass_on(family);
		note_end_of_program(family);
		family_show_progress(family);
	}
}

static void close_all(struct family *family)
{
	descendants_close(&family->descendants);
	children_close(&family->children);
	members_close(&family->all);
}

/* Those that are there, or the program that is to be started. */
static int begin(struct family *family)
{
	const struct family_options *options = family->options;
	const struct process_found none = {0};
	int err = options->argv ? members_add(&family->all, &none) : 0;

	for (size_t i = 0; !options->argv && i < options->found->count && !err; i++)
		err = members_add(&family->all, &options->found->process[i]);
	if (!err)
		return family_follow_begin(family);
	fprintf(stderr, "heapinject: %s\n", strerror(-err));
	return err;
}

/*
 * The exit code of `run`: what the program's own exit status says counts for more. All that is
 * printed goes to standard error, which is not the program's output; only an object of --json does
 * not.
 */
static int finish_program(struct family *family)
{
	const struct member *program = &family->all.member[0];
	const bool as_json = family->options->session->json;
	const struct session_outcome *outcome = program->outcome;

	if (!outcome || (!outcome->has_exited && !outcome->is_attached))
		return program->exit_code;
	fflush(stdout);
	if (!as_json)
		(void)dup2(STDERR_FILENO, STDOUT_FILENO);
	const int exit_code = family_print(&family->all, as_json);
	return outcome->program_exit ? outcome->program_exit : exit_code;
}

int family_run(const struct family_options *options)
{
	struct family family = {.options = options, .began_ns = clock_now_ns()};

	if (begin(&family)) {
		close_all(&family);
		return HI_EXIT_FAILED;
	}
	if (options->argv)
		run_note_inherited();
	family_signals_take(&family);
	progress_open(&family.progress, options->session->quiet || options->argv);
	if (options->argv)
		complain(&family, &family.all.member[0],
			 member_start_program(&family.all.member[0], options->session,
					      options->argv));
	run(&family);
	family_pass_on(&family);
	progress_close(&family.progress);
	const int exit_code = options->argv ? finish_program(&family)
					    : family_print(&family.all, options->session->json);
	close(family.signal_fd);
	close_all(&family);
	return exit_code;
}
