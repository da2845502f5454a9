/* SPDX-License-Identifier: MIT */
/*
 * render_collapsed.c - one line per distinct stack, "root;...;leaf N": the input of flamegraph.pl and of most viewers.
 *
 * Stacks that differ only in addresses or block sizes read the same, so they are brought together first: each is unfolded to function numbers,
 * the sequences are sorted from the root on, and equal neighbours are added up.
 */
#include "render_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"

struct sequence {
	const uint32_t *function; /* root first */
	size_t count;
	double value;
};

static int compare_sequences(const void *left, const void *right)
{
	const struct sequence *a = left, *b = right;
	const size_t shorter = a->count < b->count ? a->count : b->count;

	for (size_t i = 0; i < shorter; i++) {
		if (a->function[i] != b->function[i])
			return a->function[i] < b->function[i] ? -1 : 1;
	}
	return a->count < b->count ? -1 : a->count > b->count;
}

/* The separators of the format must not occur in a name. */
static void print_name(const char *name, FILE *out)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : *name, out);
}

static void print_sequence(const struct functions *functions, const struct sequence *sequence, double value, FILE *out)
{
	const uint64_t rounded = estimate_round(value);

	if (rounded == 0 || sequence->count == 0)
		return;
	for (size_t i = 0; i < sequence->count; i++) {
		if (i > 0)
			fputc(';', out);
		print_name(functions->name[sequence->function[i]], out);
	}
	fprintf(out, " %" PRIu64 "\n", rounded);
}

/* Function numbers of one stack, root first, in memory of its own. */
static int unfold(const struct functions *functions, const struct profile_stack *stack, struct sequence *sequence)
{
	size_t count;
	const uint32_t *calls = functions_unfold(functions, stack, &count);
	uint32_t *function = malloc((count + 1) * sizeof(*function));

	if (!function)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		function[i] = functions->call[calls[count - 1 - i]].function;
	sequence->function = function;
	sequence->count = count;
	return 0;
}

static int unfold_all(const struct profile *profile, enum sample_type type, const struct functions *functions, struct sequence *sequences)
{
	for (size_t i = 0; i < profile->stack_count; i++) {
		if (unfold(functions, &profile->stack[i], &sequences[i]))
			return -ENOMEM;
	}
	for (size_t i = 0; i < profile->row_count; i++)
		sequences[profile->row[i].key.stack].value += estimate_of(profile, &profile->row[i], type).value;
	qsort(sequences, profile->stack_count, sizeof(*sequences), compare_sequences);
	return 0;
}

static void print_all(const struct functions *functions, const struct sequence *sequences, size_t count, FILE *out)
{
	size_t next;

	for (size_t i = 0; i < count; i = next) {
		double value = sequences[i].value;
		for (next = i + 1; next < count && compare_sequences(&sequences[i], &sequences[next]) == 0; next++)
			value += sequences[next].value;
		print_sequence(functions, &sequences[i], value, out);
	}
}

int render_collapsed(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct sequence *sequences = calloc(profile->stack_count + 1, sizeof(*sequences));
	struct functions functions = {0};
	int error = sequences ? functions_open(profile, &functions) : -ENOMEM;

	if (!error)
		error = unfold_all(profile, options->type, &functions, sequences);
	if (!error)
		print_all(&functions, sequences, profile->stack_count, out);
	for (size_t i = 0; sequences && i < profile->stack_count; i++)
		free((void *)(uintptr_t)sequences[i].function);
	free(sequences);
	functions_close(&functions);
	return render_result(error, out);
}
