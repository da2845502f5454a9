/* SPDX-License-Identifier: MIT */
/* trial_progress.c - see trial_progress.h. */
#include "trial_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

#define FIRST_NS 1000000000u
#define EVERY_NS 100000000u

void trial_progress_open(struct trial_progress *progress, bool is_quiet)
{
	const char *terminal = getenv("TERM");

	*progress = (struct trial_progress){
		.is_quiet = is_quiet || !isatty(STDERR_FILENO) || !terminal ||
			    !strcmp(terminal, "dumb"),
		.begun_ns = clock_now_ns(),
	};
}

void trial_progress_show(struct trial_progress *progress, const char *what, uint64_t done,
			 uint64_t total)
{
	const uint64_t now_ns = clock_now_ns();

	if (progress->is_quiet || now_ns - progress->begun_ns < FIRST_NS ||
	    now_ns - progress->shown_ns < EVERY_NS)
		return;
	progress->shown_ns = now_ns;
	progress->is_shown = true;
	fprintf(stderr, "\r\033[K%s", what);
	if (total)
		fprintf(stderr, " %.0f%%", 100.0 * (double)done / (double)total);
	fflush(stderr);
}

void trial_progress_close(struct trial_progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
	progress->is_shown = false;
}
