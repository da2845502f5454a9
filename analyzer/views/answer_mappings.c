/* SPDX-License-Identifier: MIT */
/* answer_mappings.c - see answer_mappings.h. */
#include "answer_mappings.h"

#include <inttypes.h>

#include "hi_path.h"
#include "hi_units.h"

#define MAPPED_SHARE 0.3 /* of what the process grew by, mapped by one function: that is named */

static void print_mapper(const struct answer *answer, FILE *out)
{
	const struct functions *functions = &answer->frames.functions;
	const struct function_call *call = &functions->call[answer->mappings.call];

	fputs(functions->name[call->function], out);
	if (call->file && call->line)
		fprintf(out, " %s:%" PRIu32, hi_base_name(call->file), call->line);
}

/* Did one function map much of what the process grew by? */
static bool is_of_one(const struct answer *answer)
{
	return answer->mappings.resident != 0 &&
	       answer->mappings.most > MAPPED_SHARE * answer->process.bytes;
}

static bool is_of_nobody(const struct answer *answer)
{
	return answer->mappings.unknown > MAPPED_SHARE * answer->process.bytes;
}

bool answer_mappings_explain(const struct answer *answer)
{
	return is_of_one(answer) || is_of_nobody(answer);
}

void answer_mappings_print_cause(const struct answer *answer, FILE *out)
{
	char bytes[HI_UNITS_TEXT_MAX];

	if (is_of_one(answer)) {
		print_mapper(answer, out);
		fprintf(out, " has mapped %s that are still there (report --mmap)",
			hi_format_bytes(answer->mappings.most, bytes, sizeof(bytes)));
	} else {
		fprintf(out,
			"%s were mapped by signal handlers or after calls that were left, on "
			"stacks that are not known",
			hi_format_bytes(answer->mappings.unknown, bytes, sizeof(bytes)));
	}
}

bool answer_mappings_are_hidden(const struct answer *answer)
{
	return answer->mappings.is_known && answer->mappings.unknown > 0;
}

static void print_mapped_part(double bytes, const char *what, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX];

	if (bytes > 0)
		fprintf(out, ", %s %s", hi_format_bytes(bytes, text, sizeof(text)), what);
}

void answer_mappings_print(const struct answer *answer, FILE *out)
{
	const struct mapping_growth *mappings = &answer->mappings;
	char bytes[HI_UNITS_TEXT_MAX], most[HI_UNITS_TEXT_MAX];

	if (!mappings->is_known)
		return;
	fprintf(out, "Of what was mapped meanwhile %s are still there for the program itself",
		hi_format_bytes(mappings->application, bytes, sizeof(bytes)));
	if (mappings->resident > 0)
		fprintf(out, ", of which %s are in memory",
			hi_format_bytes(mappings->resident, bytes, sizeof(bytes)));
	if (mappings->most > 0) {
		fprintf(out, ", %s of that by ",
			hi_format_bytes(mappings->most, most, sizeof(most)));
		print_mapper(answer, out);
	}
	if (mappings->resident == 0 && mappings->application > 0)
		fputs(", and nothing of it is in memory", out);
	print_mapped_part(mappings->allocators, "for allocators", out);
	print_mapped_part(mappings->stacks, "for stacks of threads", out);
	print_mapped_part(mappings->linker, "for the dynamic linker", out);
	print_mapped_part(mappings->go, "for Go's runtime", out);
	print_mapped_part(mappings->unknown, "by signal handlers or after calls that were left",
			  out);
	fputs(".\n", out);
}
