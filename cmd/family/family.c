/* SPDX-License-Identifier: MIT */
/* family.c - see family.h. Start at family_run(). */
#include "family.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "clock.h"
#include "family_print.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "member.h"
#include "progress.h"

#define ROUND_MS 100           /* children that live for less are not seen (children.h) */
#define LEFT_NS_MIN 500000000u /* a session that would be shorter is not begun */
/* of those that have not attached yet: each takes a good part of a CPU for that */
#define ATTACHING_MAX 2u
#define SECOND_NS 1000000000u

struct family {
	const struct family_options *options;
	struct members all;
	uint64_t began_ns;
	int signal_fd;
	bool is_ending;
	struct children children;
	struct progress progress;
};

/* ---- members --------------------------------------------------------------------------------- */

static int add(struct family *family, const struct process_found *process)
{
	struct members *all = &family->all;

	if (all->count == all->room) {
		const size_t room = 2 * all->room + 16;
		struct member *grown = realloc(all->member, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		all->member = grown;
		all->room = room;
	}
	member_init(&all->member[all->count++], process);
	return 0;
}

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

/* What is left of the time of all. */
static uint64_t left_ns(const struct family *family)
{
	const uint64_t elapsed_ns = clock_now_ns() - family->began_ns,
		       duration_ns = family->options->session->duration_ns;

	return duration_ns > elapsed_ns ? duration_ns - elapsed_ns : 0;
}

static void start(struct family *family, struct member *member)
{
	struct session_options own = *family->options->session;
	char line[128];

	if (member->parent && left_ns(family) < LEFT_NS_MIN) {
		member->state = MEMBER_GONE;
		member->why = "was forked too near the end";
		return;
	}
	if (member->parent)
		own.duration_ns = left_ns(family);
	const int err = member_start(member, &own);

	if (!err)
		return;
	member->state = MEMBER_ENDED;
	member->exit_code = HI_EXIT_FAILED;
	snprintf(line, sizeof(line), "heapinject: %d: cannot begin a session: %s",
		 (int)member->process.pid, strerror(-err));
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

	for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
		struct member *member = find_session(family, pid);

		if (member)
			member_end(member, status);
	}
}

/* ---- children -------------------------------------------------------------------------------- */

static bool is_followed(const struct member *member)
{
	return member->state == MEMBER_WAITS || member->state == MEMBER_RUNS;
}

/* One look at all, of which children are known that were there before. */
static int look(struct family *family, bool are_known)
{
	int err = 0;

	children_begin(&family->children);
	for (size_t i = 0; i < family->all.count && !err; i++) {
		const struct member *member = &family->all.member[i];

		if (is_followed(member))
			err = children_look(&family->children, &member->process, &member->mark,
					    are_known);
	}
	children_settle(&family->children);
	return err;
}

static size_t count_children(const struct family *family)
{
	size_t count = 0;

	for (size_t i = 0; i < family->all.count; i++)
		count += family->all.member[i].parent && is_followed(&family->all.member[i]);
	return count;
}

static int take(struct family *family, const struct child *child)
{
	char line[160];

	if (count_children(family) >= family->options->children_max) {
		if (!family->all.beyond++) {
			snprintf(line, sizeof(line),
				 "heapinject: %zu children have sessions, further ones are not "
				 "attached to: --max-children",
				 family->options->children_max);
			progress_complain(&family->progress, line);
		}
		return 0;
	}
	const int err = add(family, &child->process);
	if (err)
		return err;
	struct member *member = &family->all.member[family->all.count - 1];
	member->parent = child->parent.pid;
	member->mark = child->mark;
	return 0;
}

static void follow(struct family *family)
{
	struct child child;
	int err;

	if (!family->options->follows_fork || family->is_ending)
		return;
	err = look(family, false);
	while (!err && children_next(&family->children, &child))
		err = take(family, &child);
	if (err)
		family->all.is_incomplete = true;
	family->all.ended = family->children.ended;
	family->all.executed = family->children.executed;
}

/* Children that are there already are none of those that are followed. */
static int begin_to_follow(struct family *family)
{
	if (!family->options->follows_fork)
		return 0;
	for (size_t i = 0; i < family->all.count; i++)
		program_mark_read(family->all.member[i].process.pid, &family->all.member[i].mark);
	family->all.are_followed = true;
	const int err = look(family, true);

	if (err == -ENOTSUP)
		fputs("heapinject: --follow-fork is not possible: this kernel does not list the "
		      "children of a thread in /proc (CONFIG_PROC_CHILDREN)\n",
		      stderr);
	else if (err)
		fprintf(stderr, "heapinject: cannot look for children: %s\n", strerror(-err));
	return err;
}

/* ---- messages -------------------------------------------------------------------------------- */

#define PREFIX "heapinject: "

static void say(struct family *family, const struct member *member, const char *line)
{
	char text[MEMBER_LINE_MAX + 64];

	if (!strncmp(line, PREFIX, sizeof(PREFIX) - 1))
		line += sizeof(PREFIX) - 1;
	snprintf(text, sizeof(text), PREFIX "%d: %s", (int)member->process.pid, line);
	progress_complain(&family->progress, text);
}

/* A warning is the same for all processes of a program: who said it first is enough. */
static bool was_said(struct family *family, const char *line)
{
	for (size_t i = 0; i < FAMILY_WARNINGS; i++) {
		if (!strcmp(family->all.warning[i], line))
			return true;
		if (family->all.warning[i][0])
			continue;
		snprintf(family->all.warning[i], sizeof(family->all.warning[i]), "%s", line);
		return false;
	}
	return false;
}

/* What a session said until it had attached. */
static void pass_warnings_on(struct family *family, struct member *member)
{
	const bool verbose = family->options->session->verbose;
	static const char attached[] = PREFIX "attached to ";
	char line[MEMBER_LINE_MAX];

	while ((uint64_t)member->shown < member->outcome->begun_size &&
	       member_next_line(member, line))
		if (verbose ||
		    (strncmp(line, attached, sizeof(attached) - 1) != 0 && !was_said(family, line)))
			say(family, member, line);
}

/* What it said at its end: all, if it failed, else only what it has left behind. */
static void pass_end_on(struct family *family, struct member *member)
{
	const bool has_failed =
		member->exit_code == HI_EXIT_FAILED || member->exit_code == HI_EXIT_REFUSED;
	char line[MEMBER_LINE_MAX];

	while (member_next_line(member, line)) {
		const bool is_left = strstr(line, "left behind") != NULL;

		member->has_left |= is_left;
		if (member->state == MEMBER_ENDED &&
		    (has_failed || is_left || family->options->session->verbose))
			say(family, member, line);
	}
	member->is_over = true;
}

static void pass_on(struct family *family)
{
	for (size_t i = 0; i < family->all.count; i++) {
		struct member *member = &family->all.member[i];

		if (member->outcome && member->outcome->is_attached && !member->has_begun) {
			member->has_begun = true;
			pass_warnings_on(family, member);
		}
		if (!member->is_over && member->state != MEMBER_WAITS &&
		    member->state != MEMBER_RUNS)
			pass_end_on(family, member);
	}
}

static void show_progress(struct family *family)
{
	const uint64_t elapsed_ns = clock_now_ns() - family->began_ns,
		       duration_ns = family->options->session->duration_ns;
	uint64_t samples = 0, live = 0, dropped = 0;
	size_t attached = 0, growing = 0;
	char line[256], elapsed[HI_UNITS_TEXT_MAX], whole[HI_UNITS_TEXT_MAX],
		bytes[HI_UNITS_TEXT_MAX], grows[64] = "";

	for (size_t i = 0; i < family->all.count; i++) {
		const struct session_outcome *outcome = family->all.member[i].outcome;

		if (!outcome)
			continue;
		attached += family->all.member[i].state == MEMBER_RUNS && outcome->is_attached;
		samples += outcome->samples;
		dropped += outcome->dropped;
		live += outcome->live_bytes;
		growing += outcome->is_growing;
	}
	if (growing)
		snprintf(grows, sizeof(grows), ", %zu grow%s", growing, growing == 1 ? "s" : "");
	snprintf(line, sizeof(line),
		 "heapinject: %s of %s, %zu of %zu processes attached to, %llu samples, %s live%s, "
		 "%llu dropped",
		 hi_format_duration(elapsed_ns / SECOND_NS, elapsed, sizeof(elapsed)),
		 hi_format_duration(duration_ns / SECOND_NS, whole, sizeof(whole)), attached,
		 family->all.count, (unsigned long long)samples,
		 hi_format_bytes((double)live, bytes, sizeof(bytes)), grows,
		 (unsigned long long)dropped);
	progress_draw(&family->progress, elapsed_ns, line);
}

/* ---- signals --------------------------------------------------------------------------------- */

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void take_signals(struct family *family)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < sizeof(ending_signals) / sizeof(*ending_signals); i++)
		sigaddset(&set, ending_signals[i]);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	family->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void end_all(const struct family *family)
{
	for (size_t i = 0; i < family->all.count; i++) {
		const struct member *member = &family->all.member[i];

		if (member->state == MEMBER_RUNS &&
		    (family->is_ending || !member->outcome->is_ending))
			kill(member->session, SIGTERM);
	}
}

/* A signal that ends a session ends all; a further one is for those that still write files. */
static void serve_signals(struct family *family)
{
	struct signalfd_siginfo seen;

	while (read(family->signal_fd, &seen, sizeof(seen)) == (ssize_t)sizeof(seen)) {
		if (seen.ssi_signo == SIGCHLD)
			continue;
		end_all(family);
		family->is_ending = true;
	}
}

/* ---- from the first to the last -------------------------------------------------------------- */

static bool goes_on(const struct family *family)
{
	return count_in(family, MEMBER_RUNS) || count_in(family, MEMBER_WAITS) ||
	       (!family->is_ending && children_are_awaited(&family->children) && left_ns(family));
}

static void run(struct family *family)
{
	while (goes_on(family)) {
		struct pollfd wait = {family->signal_fd, POLLIN, 0};

		start_next(family);
		(void)poll(&wait, 1, ROUND_MS);
		serve_signals(family);
		reap(family);
		follow(family);
		pass_on(family);
		show_progress(family);
	}
}

int family_run(const struct family_options *options)
{
	struct family family = {.options = options, .began_ns = clock_now_ns()};
	int err = 0;

	for (size_t i = 0; i < options->found->count && !err; i++)
		err = add(&family, &options->found->process[i]);
	if (err)
		fprintf(stderr, "heapinject: %s\n", strerror(-err));
	else
		err = begin_to_follow(&family);
	if (err) {
		members_close(&family.all);
		children_close(&family.children);
		return HI_EXIT_FAILED;
	}
	take_signals(&family);
	progress_open(&family.progress, options->session->quiet);
	run(&family);
	pass_on(&family);
	progress_close(&family.progress);
	const int exit_code = family_print(&family.all, options->session->json);
	close(family.signal_fd);
	children_close(&family.children);
	members_close(&family.all);
	return exit_code;
}
