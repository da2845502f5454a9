/* SPDX-License-Identifier: MIT */
/*
 * render_speedscope.c - the JSON of speedscope: each sample type is a profile of its own, so one
 * file shows them all.
 *
 * Frames are functions, not calls, so that a function is one row of speedscope's table. speedscope
 * has no negative weights: a comparison has two profiles of each type, for what has grown and for
 * what has shrunk.
 */
#include "render_formats.h"

#include <inttypes.h>

#include "sample_types.h"
#include "stack_sums.h"
#include "text_out.h"

enum direction { SHOWN_ALL, SHOWN_GROWN, SHOWN_SHRUNK };

static const char *const direction_names[] = {
	[SHOWN_ALL] = "", [SHOWN_GROWN] = ", grown", [SHOWN_SHRUNK] = ", shrunk"};

static int64_t weight_of(const struct stack_sum *sum, enum sample_type type,
			 enum direction direction)
{
	const int64_t value = text_whole(sum->value[type]);

	if (direction == SHOWN_SHRUNK)
		return value < 0 ? -value : 0;
	return value > 0 ? value : 0;
}

/* The last frame stands for unknown stacks. */
static void print_frames(const struct stack_sums *sums, FILE *out)
{
	const struct functions *functions = &sums->functions;

	fputs("\"shared\":{\"frames\":[\n", out);
	for (size_t i = 0; i < functions->count; i++) {
		fputs("{\"name\":", out);
		text_json(functions->name[i], out);
		if (sums->file[i]) {
			fputs(",\"file\":", out);
			text_json(sums->file[i], out);
		}
		fputs("},\n", out);
	}
	fputs("{\"name\":\"" RENDER_UNKNOWN "\"}\n]}", out);
}

static void print_steps(const struct stack_sums *sums, const struct stack_sum *sum, FILE *out)
{
	putc('[', out);
	for (size_t i = 0; i < sum->count; i++)
		fprintf(out, i ? ",%" PRIu32 : "%" PRIu32, sum->step[i]);
	if (!sum->count)
		fprintf(out, "%zu", sums->functions.count);
	putc(']', out);
}

static void print_profile(const struct stack_sums *sums, enum sample_type type,
			  enum direction direction, FILE *out)
{
	const char *before = "";
	int64_t total = 0;

	fprintf(out,
		"{\"type\":\"sampled\",\"name\":\"%s%s\",\"unit\":\"%s\",\"startValue\":0,"
		"\"samples\":[",
		sample_types[type].name, direction_names[direction],
		sample_types[type].is_bytes ? "bytes" : "none");
	for (size_t i = 0; i < sums->count; i++) {
		if (!weight_of(&sums->sum[i], type, direction))
			continue;
		fprintf(out, "%s\n", before);
		print_steps(sums, &sums->sum[i], out);
		before = ",";
	}
	fputs("],\"weights\":[", out);
	before = "";
	for (size_t i = 0; i < sums->count; i++) {
		const int64_t weight = weight_of(&sums->sum[i], type, direction);

		if (!weight)
			continue;
		fprintf(out, "%s%" PRId64, before, weight);
		before = ",";
		total = text_sum(total, weight);
	}
	fprintf(out, "],\"endValue\":%" PRId64 "}", total);
}

static void print_profiles(const struct profile *profile, const struct stack_sums *sums, FILE *out)
{
	const bool is_comparison = profile_is_comparison(profile);

	fputs("\"profiles\":[\n", out);
	for (int type = 0; type < sample_type_count(profile); type++) {
		if (type)
			fputs(",\n", out);
		print_profile(sums, (enum sample_type)type, is_comparison ? SHOWN_GROWN : SHOWN_ALL,
			      out);
		if (!is_comparison)
			continue;
		fputs(",\n", out);
		print_profile(sums, (enum sample_type)type, SHOWN_SHRUNK, out);
	}
	fputs("\n]", out);
}

int render_speedscope(const struct profile *profile, const struct render_options *options,
		      FILE *out)
{
	const bool is_comparison = profile_is_comparison(profile);
	struct stack_sums sums;
	const int err = stack_sums_open(profile, STEPS_BY_FUNCTION, STEPS_ROOT_FIRST, &sums);

	if (err)
		return render_result(err, out);
	fputs("{\"$schema\":\"https://www.speedscope.app/"
	      "file-format-schema.json\",\"exporter\":\"heapinject\",\"name\":",
	      out);
	text_json(profile->meta.comm ? profile->meta.comm : "heap profile", out);
	fprintf(out, ",\"activeProfileIndex\":%d,\n", (int)options->type * (is_comparison ? 2 : 1));
	print_frames(&sums, out);
	fputs(",\n", out);
	print_profiles(profile, &sums, out);
	fputs("}\n", out);
	stack_sums_close(&sums);
	return render_result(0, out);
}
