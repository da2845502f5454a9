/* SPDX-License-Identifier: MIT */
/*
 * render_collapsed.c - one line per distinct stack, "root;...;leaf N": the input of flamegraph.pl and of most viewers.
 *
 * A comparison has two columns, "root;...;leaf OLD NEW", which is what difffolded.pl makes of two files and flamegraph.pl draws in red and blue.
 */
#include "render_formats.h"

#include <inttypes.h>

#include "stack_sums.h"
#include "text_out.h"

/* The separators of the format must not occur in a name. */
static void print_name(const char *name, FILE *out)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : *name, out);
}

static void print_stack(const struct functions *functions, const struct stack_sum *sum, FILE *out)
{
	if (sum->count == 0)
		fputs(RENDER_UNKNOWN, out);
	for (size_t i = 0; i < sum->count; i++) {
		if (i > 0)
			fputc(';', out);
		print_name(functions->name[sum->step[i]], out);
	}
}

static void print_sum(const struct stack_sums *sums, const struct stack_sum *sum, const struct render_options *options, bool is_comparison, FILE *out)
{
	const int64_t old = text_whole(sum->base[options->type]), now = text_whole(sum->value[options->type] + sum->base[options->type]);

	if (old == 0 && now == 0)
		return;
	print_stack(&sums->functions, sum, out);
	if (is_comparison)
		fprintf(out, " %" PRId64, old);
	fprintf(out, " %" PRId64 "\n", now);
}

int render_collapsed(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const bool is_comparison = render_is_comparison(profile);
	struct stack_sums sums;
	const int error = stack_sums_open(profile, STEPS_BY_FUNCTION, STEPS_ROOT_FIRST, &sums);

	if (error)
		return render_result(error, out);
	for (size_t i = 0; i < sums.count; i++)
		print_sum(&sums, &sums.sum[i], options, is_comparison, out);
	stack_sums_close(&sums);
	return render_result(0, out);
}
