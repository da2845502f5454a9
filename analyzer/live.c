/* SPDX-License-Identifier: MIT */
/*
 * live.c - what a profile says, as JSON for the live page of `heapinject serve`: the answer, and
 * the memory of the process over the window, as the page of reports has them. Start at
 * hi_analyzer_live().
 */
#include <errno.h>

#include "caveats.h"
#include "heapfile.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "html_answer.h"
#include "html_data.h"
#include "html_write.h"
#include "leaks.h"

static void write_figures(const struct profile *profile, FILE *out)
{
	const struct estimate live = estimate_total(profile, INUSE_SPACE);
	double low, high;

	estimate_interval(&live, &low, &high);
	fprintf(out, "\"start\":%.3f,\"duration\":%.3f,", (double)profile->meta.start_unix_ns / 1e9,
		(double)profile->meta.duration_ns / 1e9);
	html_write_number("live", live.value, out);
	html_write_number("low", low, out);
	html_write_number("high", high, out);
}

static void write_notes(const struct profile_meta *meta, FILE *out)
{
	const char *before = "";

	fputs("\"notes\":[", out);
	for (int kind = 0; kind < HI_CAVEATS; kind++) {
		if (!meta->caveat[kind])
			continue;
		fputs(before, out);
		html_write_text(meta->caveat[kind], out);
		before = ",";
	}
	fputs("],\n", out);
}

static int write_live(const struct profile *profile, FILE *out)
{
	struct answer answer;
	const bool is_known = html_answer_is_known(profile, 1);
	int err = 0;

	if (is_known)
		err = answer_open(profile, LEAKS_TAIL_SHARE * (double)profile->meta.duration_ns,
				  TREND_LEVEL, &answer);
	if (err)
		return err;
	fputc('{', out);
	write_figures(profile, out);
	write_notes(&profile->meta, out);
	html_data_write_moments(&profile->meta, out);
	err = html_answer_write(is_known ? &answer : NULL, out);
	fputs("\"end\":true}", out);
	if (is_known)
		answer_close(&answer);
	return err;
}

int hi_analyzer_live(int profile_fd, FILE *out)
{
	struct profile profile;
	struct input input;
	int err = profile_open(&profile);

	if (!err)
		err = input_open(&input, profile_fd);
	if (!err) {
		err = heapfile_read(&input, &profile);
		input_close(&input);
	}
	if (!err)
		err = write_live(&profile, out);
	profile_close(&profile);
	return err ? HI_EXIT_FAILED : HI_EXIT_OK;
}
