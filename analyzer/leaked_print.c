/* SPDX-License-Identifier: MIT */
/*
 * leaked_print.c - the report of leaked blocks by stack, see leaked.h: a line of figures and the
 * stack for each, and the same in JSON. Start at leaked_print().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "caveats.h"
#include "hi_analyzer.h"
#include "hi_units.h"
#include "leaked.h"
#include "stack_columns.h"
#include "suppressions.h"
#include "text_out.h"

/* the session relays no more text than so much */
#define TEXT_STACKS 40u
#define JSON_STACKS 200u
#define JSON_FRAMES 64u
#define LINE_MAX_SIZE 512u

/*
 * What the C library keeps for threads where no program can refer to it. In a program with a
 * dynamic linker that is known by the linker's file; in a static one only by names. LeakSanitizer
 * leaves out the first two. The last one is what tcmalloc leaks itself, in every program, when it
 * begins.
 */
static const char *const always_suppressed[] = {
	"leak:pthread_exit",   "leak:tls_get_addr",         "leak:^_dl_allocate_tls",
	"leak:^allocate_dtv$", "leak:^allocate_dtv_entry$", "leak:^MallocExtension::Register"};

struct amount {
	uint64_t bytes, blocks;
};
/* Of the stacks that read the same. */
struct line {
	struct amount direct, indirect;
	uint32_t stack;
};
struct report {
	const struct profile *profile;
	struct stack_text text;
	struct stack_groups groups;
	struct line *line; /* those with blocks, the largest first */
	size_t count;
	struct amount direct, indirect, suppressed;
	bool is_unsure;
};

static void count(struct amount *amount, uint64_t bytes)
{
	amount->bytes += bytes;
	amount->blocks++;
}

/* ---- what is left out ------------------------------------------------------------------------ */

/* Returns the number of the first line that is none of such a file, 0 = there is none. */
static size_t add_lines(struct suppressions *suppressions, const char *text)
{
	size_t bad = 0;

	for (size_t number = 1; *text; number++) {
		char line[LINE_MAX_SIZE];
		const size_t length = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		if (!suppressions_add(suppressions, line) && !bad)
			bad = number;
		text += length + (text[length] == '\n');
	}
	return bad;
}

static void open_suppressions(struct suppressions *suppressions)
{
	*suppressions = (struct suppressions){.with_shown_names = true};
	for (size_t i = 0; i < sizeof(always_suppressed) / sizeof(*always_suppressed); i++)
		(void)suppressions_add(suppressions, always_suppressed[i]);
}

size_t hi_analyzer_check_suppressions(const char *text)
{
	struct suppressions suppressions;

	open_suppressions(&suppressions);
	const size_t bad = add_lines(&suppressions, text);
	suppressions_close(&suppressions);
	return bad;
}

/* By frame of the profile: whether it is left out. NULL = out of memory. */
static bool *find_suppressed(const struct profile *profile, const char *text)
{
	struct suppressions suppressions;

	open_suppressions(&suppressions);
	if (text)
		(void)add_lines(&suppressions, text);
	bool *matches = suppressions_frames(&suppressions, profile);
	suppressions_close(&suppressions);
	return matches;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->direct.bytes != b->direct.bytes)
		return a->direct.bytes < b->direct.bytes ? 1 : -1;
	if (a->indirect.bytes != b->indirect.bytes)
		return a->indirect.bytes < b->indirect.bytes ? 1 : -1;
	return (a->stack > b->stack) - (a->stack < b->stack);
}

/* Lines by group, empty ones too. */
static void sum_up(struct report *report, const struct leaked *leaked, const bool *suppressed)
{
	const struct profile *profile = report->profile;

	for (size_t i = 0; i < leaked->count; i++) {
		const struct leaked_block *block = &leaked->block[i];
		struct line *line = &report->line[report->groups.group_of[block->stack]];

		if (suppressions_has_stack(suppressed, &profile->stack[block->stack]) ||
		    suppressions_has_stack(suppressed, &profile->stack[block->leader])) {
			count(&report->suppressed, block->bytes);
			continue;
		}
		count(block->is_direct ? &line->direct : &line->indirect, block->bytes);
		count(block->is_direct ? &report->direct : &report->indirect, block->bytes);
	}
}

static void sort_lines(struct report *report)
{
	for (size_t i = 0; i < report->groups.count; i++) {
		const struct line line = report->line[i];

		if (!line.direct.blocks && !line.indirect.blocks)
			continue;
		report->line[report->count] = line;
		report->line[report->count++].stack = report->groups.stack[i];
	}
	qsort(report->line, report->count, sizeof(*report->line), compare_lines);
}

/* Whether blocks may exist that are not known, or be known that do not exist any more. */
static bool is_unsure(const struct profile_meta *meta)
{
	const uint32_t caveats = caveats_bits(meta);

	return meta->dropped_allocs || meta->dropped_frees || meta->live_set_full ||
	       meta->no_thread_slot || meta->resets || meta->interval != HI_INTERVAL_EXACT ||
	       meta->change_count || meta->damage ||
	       caveats & (1u << HI_CAVEAT_MISSED_FREES | 1u << HI_CAVEAT_UNHOOKED |
			  1u << HI_CAVEAT_PAUSED);
}

static int open_report(struct report *report, const struct profile *profile,
		       const struct leaked *leaked, const char *suppressions)
{
	*report = (struct report){.profile = profile, .is_unsure = is_unsure(&profile->meta)};
	bool *suppressed = find_suppressed(profile, suppressions);
	int err = suppressed ? stack_text_open(profile, &report->text) : -ENOMEM;

	if (!err)
		err = stack_groups_open(&report->text, &report->groups);
	if (!err) {
		report->line = calloc(report->groups.count + 1, sizeof(*report->line));
		err = report->line ? 0 : -ENOMEM;
	}
	if (!err) {
		sum_up(report, leaked, suppressed);
		sort_lines(report);
	}
	free(suppressed);
	return err;
}

static void close_report(struct report *report)
{
	free(report->line);
	stack_groups_close(&report->groups);
	stack_text_close(&report->text);
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *blocks(uint64_t number)
{
	return number == 1 ? "block" : "blocks";
}

static void print_totals(const struct report *report, FILE *out)
{
	char sum[HI_UNITS_TEXT_MAX], direct[HI_UNITS_TEXT_MAX], indirect[HI_UNITS_TEXT_MAX];
	const uint64_t number = report->direct.blocks + report->indirect.blocks;

	if (report->count)
		fprintf(out,
			"Leaked: %s in %" PRIu64 " %s: %s in %" PRIu64
			" that nothing refers to, %s in %" PRIu64 " that only leaked blocks do\n",
			hi_format_bytes((double)(report->direct.bytes + report->indirect.bytes),
					sum, sizeof(sum)),
			number, blocks(number),
			hi_format_bytes((double)report->direct.bytes, direct, sizeof(direct)),
			report->direct.blocks,
			hi_format_bytes((double)report->indirect.bytes, indirect, sizeof(indirect)),
			report->indirect.blocks);
	else
		fprintf(out, "Leaked: nothing\n");
	if (report->suppressed.blocks)
		fprintf(out, "  (suppressed: %s in %" PRIu64 " %s)\n",
			hi_format_bytes((double)report->suppressed.bytes, sum, sizeof(sum)),
			report->suppressed.blocks, blocks(report->suppressed.blocks));
	if (report->is_unsure)
		fprintf(out, "  (not everything that it allocated and freed was seen: this may be "
			     "too much or too little)\n");
}

static void print_text(const struct report *report, FILE *out)
{
	const size_t shown = report->count < TEXT_STACKS ? report->count : TEXT_STACKS;
	char direct[HI_UNITS_TEXT_MAX], indirect[HI_UNITS_TEXT_MAX];

	fputc('\n', out);
	if (report->count)
		fprintf(out, "%12s %8s %12s %8s\n", "direct", "blocks", "indirect", "blocks");
	for (size_t i = 0; i < shown; i++) {
		const struct line *line = &report->line[i];

		fprintf(out, "%12s %8" PRIu64 " %12s %8" PRIu64 "\n",
			hi_format_bytes((double)line->direct.bytes, direct, sizeof(direct)),
			line->direct.blocks,
			hi_format_bytes((double)line->indirect.bytes, indirect, sizeof(indirect)),
			line->indirect.blocks);
		stack_columns_wrap(&report->text, line->stack, out);
	}
	if (report->count > shown)
		fprintf(out, "and %zu more stacks (--json has %u)\n", report->count - shown,
			JSON_STACKS);
	print_totals(report, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static char letter_of(const struct report *report)
{
	return report->is_unsure ? HI_ANALYZER_LEAKS_UNSURE
	       : report->count   ? HI_ANALYZER_LEAKED
				 : HI_ANALYZER_NOT_LEAKED;
}

static void put_amounts(const struct amount *direct, const struct amount *indirect, FILE *out)
{
	fprintf(out,
		"\"direct_bytes\":%" PRIu64 ",\"direct_blocks\":%" PRIu64
		",\"indirect_bytes\":%" PRIu64 ",\"indirect_blocks\":%" PRIu64,
		direct->bytes, direct->blocks, indirect->bytes, indirect->blocks);
}

static void put_line(const struct report *report, const struct line *line, FILE *out)
{
	const struct functions *functions = &report->text.functions;
	size_t calls;
	const uint32_t *call =
		functions_unfold(functions, &report->profile->stack[line->stack], &calls);

	fputc('{', out);
	put_amounts(&line->direct, &line->indirect, out);
	fputs(",\"stack\":[", out);
	for (size_t i = 0; i < calls && i < JSON_FRAMES; i++) {
		fputs(i ? "," : "", out);
		text_json(functions->name[functions->call[call[i]].function], out);
	}
	fputs("]}", out);
}

static void print_json(const struct report *report, FILE *out)
{
	fprintf(out, ",\"leaks\":{\"verdict\":\"%s\",",
		report->is_unsure ? "cannot tell"
		: report->count   ? "leaks"
				  : "no leaks");
	put_amounts(&report->direct, &report->indirect, out);
	fprintf(out, ",\"suppressed_bytes\":%" PRIu64 ",\"suppressed_blocks\":%" PRIu64,
		report->suppressed.bytes, report->suppressed.blocks);
	fprintf(out, ",\"stack_count\":%zu,\"stacks\":[", report->count);
	for (size_t i = 0; i < report->count && i < JSON_STACKS; i++) {
		fputs(i ? "," : "", out);
		put_line(report, &report->line[i], out);
	}
	fputs("]}", out);
}

int leaked_print(const struct leaked *leaked, const struct profile *profile,
		 const char *suppressions, FILE *out)
{
	struct report report;
	const int err = open_report(&report, profile, leaked, suppressions);

	if (!err) {
		fprintf(out, "%c%c", HI_ANALYZER_LEAKS, letter_of(&report));
		print_text(&report, out);
		fputc(HI_ANALYZER_LEAKS, out);
		print_json(&report, out);
	}
	close_report(&report);
	return err;
}
