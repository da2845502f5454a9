/* SPDX-License-Identifier: MIT */
/* session_status.c - `heapinject status`. Start at session_status(). */
#include <stdbool.h>
#include <stdio.h>

#include "hi_exit.h"
#include "session.h"
#include "session_list.h"
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
