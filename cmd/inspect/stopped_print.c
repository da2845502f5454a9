/* SPDX-License-Identifier: MIT */
/* stopped_print.c - see stopped_print.h. */
#include "stopped_print.h"

void stopped_print(const struct stopped *stopped, FILE *out)
{
	const double ms = (double)stopped->ns / 1e6;

	if (stopped->times > 1)
		fprintf(out, "stopped %u times, for %.1f ms at most", stopped->times, ms);
	else
		fprintf(out, "stopped for %.1f ms", ms);
	fprintf(out, " (%zu thread%s)", stopped->threads, stopped->threads == 1 ? "" : "s");
}

void stopped_print_json(const struct stopped *stopped, FILE *out)
{
	fprintf(out, "\"stopped_times\":%u,\"stopped_ms\":%.3f", stopped->times,
		(double)stopped->ns / 1e6);
}
