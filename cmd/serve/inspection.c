/* SPDX-License-Identifier: MIT */
/* inspection.c - see inspection.h. */
#include "inspection.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "hi_exit.h"
#include "sandbox_filter.h"
#include "session_list.h"

#define MEMORY_MAX ((rlim_t)4 << 30) /* some 100 bytes for each block, of owners */
#define ANSWER_MAX ((rlim_t)256 << 20)
#define CPU_SECONDS_MAX 60u

static const char *command_of(enum serve_page page)
{
	switch (page) {
	case SERVE_INSPECT_EXPLAIN:
		return "explain";
	case SERVE_INSPECT_CENSUS:
		return "census";
	case SERVE_INSPECT_LEAKS:
		return "leaks";
	default:
		return "owners";
	}
}

static void ignore_status(void *context, const struct status_fields *fields)
{
	(void)context;
	(void)fields;
}

/*
 * Processes that were named, or else those that have a session: somebody has chosen each of them.
 * Who may attach to any process may inspect any.
 */
static bool is_served(const struct serve_options *options, pid_t pid)
{
	for (size_t i = 0; i < options->pid_count; i++)
		if (options->pid[i] == pid)
			return true;
	if (options->pid_count) {
		fprintf(stderr, "heapinject: process %d is not served\n", (int)pid);
		return false;
	}
	if (options->attach || session_list_one(pid, ignore_status, NULL) == HI_EXIT_OK)
		return true;
	fprintf(stderr, "heapinject: serve inspects processes without a session only if they are "
			"named when it starts, or with --allow-attach\n");
	return false;
}

static void limit(int resource, rlim_t bound)
{
	const struct rlimit wanted = {bound, bound};
	struct rlimit now;

	if (!getrlimit(resource, &now) && now.rlim_max > bound)
		(void)setrlimit(resource, &wanted);
}

enum serve_outcome inspection_answer(const struct inspection *inspection)
{
	const pid_t pid = inspection->route.pid;

	if (!inspection->options->inspect || !is_served(inspection->options, pid))
		return SERVE_NO_SESSION;
	limit(RLIMIT_FSIZE, ANSWER_MAX);
	limit(RLIMIT_CPU, CPU_SECONDS_MAX);
	if (!SANDBOX_IS_SANITIZED)
		limit(RLIMIT_AS, MEMORY_MAX);
	switch (inspection->options->inspect(command_of(inspection->route.page), pid,
					     inspection->seconds, inspection->as_json)) {
	case HI_EXIT_OK:
	case HI_EXIT_UNSURE: /* what it prints says so */
		return SERVE_ANSWERED;
	case HI_EXIT_REFUSED:
		return kill(pid, 0) && errno == ESRCH ? SERVE_NO_SESSION : SERVE_REFUSED;
	default:
		return SERVE_FAILED;
	}
}
