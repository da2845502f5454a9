/* SPDX-License-Identifier: MIT */
/* session_status.c - `heapinject status`. Start at session_status(). */
#include <stdbool.h>
#include <stdio.h>

#include "hi_exit.h"
#include "session.h"
#include "session_list.h"
#include "session_request.h"
#include "status_print.h"

struct printing {
	bool json;
	size_t count; /* printed */
};

static void print(void *context, const struct status_fields *fields)
{
	struct printing *printing = context;

	if (printing->json) {
		fputs(printing->count ? "," : "{\"sessions\":[", stdout);
		status_print_json(fields, stdout);
	} else {
		if (printing->count)
			fputc('\n', stdout);
		status_print_text(fields, stdout);
	}
	printing->count++;
}

static void finish(const struct printing *printing)
{
	if (printing->json)
		fputs(printing->count ? "]}\n" : "{\"sessions\":[]}\n", stdout);
	else if (!printing->count)
		fputs("No session that you may ask is running.\n", stdout);
}

int session_status(pid_t pid, bool json)
{
	struct printing printing = {.json = json};
	int exit_code = HI_EXIT_OK;

	if (pid)
		exit_code = session_list_one(pid, print, &printing);
	else
		session_list(print, &printing);
	if (exit_code == HI_EXIT_OK)
		finish(&printing);
	return exit_code;
}

/* Of one of several: that it has no session is not said. */
static int add(pid_t pid, struct printing *printing)
{
	static struct status_fields fields;
	static struct preflight preflight;
	const int exit_code = session_list_read(pid, &fields, &preflight);

	if (exit_code == HI_EXIT_OK)
		print(printing, &fields);
	if (exit_code != SESSION_NO_ANSWER)
		return exit_code;
	return session_is_none(&preflight) ? HI_EXIT_OK : session_explain_none(pid, &preflight);
}

int session_status_of(const struct processes_found *found, bool json)
{
	struct printing printing = {.json = json};
	int exit_code = HI_EXIT_OK;

	for (size_t i = 0; i < found->count; i++) {
		const int code = add(found->process[i].pid, &printing);

		if (exit_code == HI_EXIT_OK)
			exit_code = code;
	}
	finish(&printing);
	return exit_code;
}
