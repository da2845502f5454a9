/* SPDX-License-Identifier: MIT */
/*
 * render_dhat.c - the JSON of valgrind's DHAT, version 2: what was allocated, how long it lived,
 * and what is left at the end.
 *
 * Some things that DHAT measures are unknown from samples. Reads and writes are unknown: bkacc is
 * false. The greatest size of each program point and the sizes at the global maximum are unknown,
 * too. Lower bounds replace them: the size at the end, and for the greatest size at least one
 * block. Times are microseconds from the start of the window.
 */
#include "render_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "frame_label.h"
#include "stack_sums.h"
#include "text_out.h"

#define SHORT_LIVED_US 500

/*
 * Indices into ftbl: 0 is the root, 1 stands for unknown stacks, then the calls follow in their
 * order.
 */
#define FIRST_CALL 2u

static int print_places(const struct profile *profile, const struct functions *functions, FILE *out)
{
	uint32_t *frame_of = frame_label_frames(profile, functions);

	if (!frame_of)
		return -ENOMEM;
	fputs("\"ftbl\":[\"[root]\",\n\"" RENDER_UNKNOWN "\"", out);
	for (uint32_t call = 0; call < functions->first[profile->frame_count]; call++) {
		char *text = frame_label(profile, functions, frame_of[call], call);

		fputs(",\n", out);
		text_json(text ? text : "", out);
		free(text);
	}
	fputs("]", out);
	free(frame_of);
	return 0;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void print_point(const struct stack_sum *sum, FILE *out)
{
	const int64_t left_bytes = text_whole(sum->value[INUSE_SPACE]),
		      left_blocks = text_whole(sum->value[INUSE_OBJECTS]);
	const int64_t bytes = larger(text_whole(sum->value[ALLOC_SPACE]), left_bytes),
		      blocks = larger(text_whole(sum->value[ALLOC_OBJECTS]), left_blocks);
	const int64_t one = blocks ? bytes / blocks : 0;

	fprintf(out, "{\"tb\":%" PRId64 ",\"tbk\":%" PRId64 ",\"tl\":%" PRId64, bytes, blocks,
		text_whole(sum->lived_ns / 1000));
	fprintf(out, ",\"mb\":%" PRId64 ",\"mbk\":%" PRId64, larger(left_bytes, one),
		larger(left_blocks, blocks > 0));
	for (const char *of = "ge"; *of; of++)
		fprintf(out, ",\"%cb\":%" PRId64 ",\"%cbk\":%" PRId64, *of, left_bytes, *of,
			left_blocks);
	fputs(",\"fs\":[", out);
	for (size_t i = 0; i < sum->count; i++)
		fprintf(out, i ? ",%" PRIu32 : "%" PRIu32, sum->step[i] + FIRST_CALL);
	fputs(sum->count ? "]}" : "1]}", out);
}

static bool is_nothing(const struct stack_sum *sum)
{
	return text_whole(sum->value[ALLOC_OBJECTS]) == 0 &&
	       text_whole(sum->value[INUSE_OBJECTS]) == 0;
}

static void print_head(const struct profile_meta *meta, FILE *out)
{
	const uint64_t end_us = meta->duration_ns / 1000;

	fputs("{\"dhatFileVersion\":2,\"mode\":\"heap\",\"verb\":\"Allocated\",\"bklt\":true,"
	      "\"bkacc\":false,\n\"tu\":\"us\",\"Mtu\":\"s\",\"tuth\":",
	      out);
	fprintf(out, "%d,\n\"cmd\":", SHORT_LIVED_US);
	text_json(meta->cmdline ? meta->cmdline : meta->comm ? meta->comm : "", out);
	fprintf(out, ",\"pid\":%" PRIu32 ",\n\"te\":%" PRIu64 ",\"tg\":%" PRIu64 ",\n", meta->pid,
		end_us, end_us);
}

static int print_all(const struct profile *profile, const struct stack_sums *sums, FILE *out)
{
	const char *before = "";

	print_head(&profile->meta, out);
	fputs("\"pps\":[", out);
	for (size_t i = 0; i < sums->count; i++) {
		if (is_nothing(&sums->sum[i]))
			continue;
		fprintf(out, "%s\n", before);
		print_point(&sums->sum[i], out);
		before = ",";
	}
	fputs("],\n", out);
	const int err = print_places(profile, &sums->functions, out);
	fputs("}\n", out);
	return err;
}

int render_dhat(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct stack_sums sums;
	int err = render_refuse_comparison(profile, "DHAT's format");

	(void)options;
	if (err)
		return err;
	err = stack_sums_open(profile, STEPS_BY_CALL, STEPS_LEAF_FIRST, &sums);
	if (err)
		return render_result(err, out);
	err = print_all(profile, &sums, out);
	stack_sums_close(&sums);
	return render_result(err, out);
}
