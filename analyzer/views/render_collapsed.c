/* SPDX-License-Identifier: MIT */
/*
 * render_collapsed.c - one line per distinct stack, "root;...;leaf N": the input of flamegraph.pl
 * and of most viewers.
 *
 * A comparison has two columns, "root;...;leaf OLD NEW". difffolded.pl makes this from two files,
 * and flamegraph.pl draws it in red and blue.
 */
#include "render_formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stack_sums.h"
#include "text_out.h"

/* Replaces the format's separators in a name. The caller frees the result; NULL = out of memory. */
static char *separable(const char *name)
{
	char *copy = strdup(name);

	for (char *at = copy; at && (at = strchr(at, ';'));)
		*at = ':';
	return copy;
}

/* Opens the array of names, by function. */
static int open_names(const struct functions *functions, char ***out_names)
{
	int err = 0;

	*out_names = calloc(functions->count + 1, sizeof(**out_names));
	if (!*out_names)
		return -ENOMEM;
	for (size_t i = 0; i < functions->count && !err; i++)
		err = ((*out_names)[i] = separable(functions->name[i])) ? 0 : -ENOMEM;
	return err;
}

static void close_names(char **names, size_t count)
{
	for (size_t i = 0; names && i < count; i++)
		free(names[i]);
	free(names);
}

static void print_stack(char *const names[], const struct stack_sum *sum, FILE *out)
{
	if (sum->count == 0)
		fputs(RENDER_UNKNOWN, out);
	for (size_t i = 0; i < sum->count; i++) {
		if (i > 0)
			putc(';', out);
		fputs(names[sum->step[i]], out);
	}
}

static void print_sum(char *const names[], const struct stack_sum *sum,
		      const struct render_options *options, bool is_comparison, FILE *out)
{
	const int64_t old = text_whole(sum->base[options->type]),
		      now = text_whole(sum->value[options->type] + sum->base[options->type]);

	if (old == 0 && now == 0)
		return;
	print_stack(names, sum, out);
	putc(' ', out);
	if (is_comparison) {
		text_number(old, out);
		putc(' ', out);
	}
	text_number(now, out);
	putc('\n', out);
}

int render_collapsed(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const bool is_comparison = profile_is_comparison(profile);
	struct stack_sums sums;
	char **names;
	int err = stack_sums_open(profile, STEPS_BY_FUNCTION, STEPS_ROOT_FIRST, &sums);

	if (err)
		return render_result(err, out);
	err = open_names(&sums.functions, &names);
	for (size_t i = 0; i < sums.count && !err; i++)
		print_sum(names, &sums.sum[i], options, is_comparison, out);
	close_names(names, sums.functions.count);
	stack_sums_close(&sums);
	return render_result(err, out);
}
