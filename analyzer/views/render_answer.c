/* SPDX-License-Identifier: MIT */
/* render_answer.c - see render_answer.h. Start at render_answer_text(). */
#include "render_answer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "answer_mappings.h"
#include "answer_sentence.h"
#include "answer_words.h"

#define NS_PER_S 1e9
#define EXPLAINED_ENOUGH 0.7 /* of the growth; allocators keep memory, and round up */
#define ROUNDING_SHARE 0.05  /* of the growth; rows have what was requested */
#define PART_SHARE 0.05      /* of what it grew by: a part of it that is worth a word */
#define UNSHOWN_TIMES 2.0    /* what is in use grows so much faster than the process */

/* ---- the process ----------------------------------------------------------------------------- */

/* What is resident and not anonymous: files, and memory that processes share. */
static void print_not_anonymous(const struct answer *answer, FILE *out)
{
	const struct profile_meta *meta = &answer->profile->meta;
	const double bytes = answer->process.other_bytes;
	const enum mapped_kind kind =
		mapped_grown(&meta->mapped_begin, &meta->mapped_end, bytes, MAPPED_EXPLAINS);
	char text[HI_UNITS_TEXT_MAX];

	if (bytes < ANSWER_OTHER_MIN)
		return;
	fprintf(out, "It has %s more of files and shared memory resident",
		hi_format_bytes(bytes, text, sizeof(text)));
	if (kind == MAPPED_SHARED || kind == MAPPED_FILE)
		fprintf(out, ", and mapped more %s",
			kind == MAPPED_SHARED ? "shared memory" : "files");
	fputs("; neither is allocated by malloc.\n", out);
}

/*
 * Of what the rest of the growth may be, if it is much: the allocator may have mapped what is
 * explained, so only what goes beyond counts.
 */
static void print_unexplained(const struct answer *answer, FILE *out)
{
	const struct profile_meta *meta = &answer->profile->meta;
	const double explained = answer->explained * answer->process.bytes,
		     rest = answer->process.bytes - explained;
	char bytes[HI_UNITS_TEXT_MAX];

	if (answer->explained_high >= EXPLAINED_ENOUGH || rest <= 0)
		return;
	const enum mapped_kind kind = mapped_grown(&meta->mapped_begin, &meta->mapped_end,
						   explained + MAPPED_EXPLAINS * rest, 1);

	if (kind == MAPPED_KINDS)
		fputs(", the rest did not pass the hooked functions, or fills memory that it had",
		      out);
	else
		fprintf(out, "; in all it has %s more of %s",
			hi_format_bytes(mapped_more(&meta->mapped_begin, &meta->mapped_end, kind),
					bytes, sizeof(bytes)),
			mapped_name(kind));
	answer_words_heaps(answer, kind, "; that may be ", out);
}

static void print_process(const struct answer *answer, FILE *out)
{
	const struct process_growth *process = &answer->process;
	const struct answer_words_rates rates =
		answer_words_rates(process->slope, process->low, process->high);
	char bytes[HI_UNITS_TEXT_MAX];

	if (!process->is_known)
		return;
	fprintf(out, "The process %s%s by %s (%s, %s .. %s of anonymous memory)",
		process->bytes * process->slope < 0 ? "rose and fell, and " : "",
		process->bytes < 0 ? "shrank" : "grew",
		hi_format_bytes(fabs(process->bytes), bytes, sizeof(bytes)), rates.rate, rates.low,
		rates.high);
	if (answer->explained >= 0) {
		fprintf(out, "; %.0f%% of its growth is below", 100 * fmin(answer->explained, 1));
		if (!answer->is_partly && answer->rounding >= ROUNDING_SHARE * process->slope)
			fprintf(out, " (%.0f%% without what the allocator rounds up)",
				100 * fmin(answer->slope / process->slope, 1));
		print_unexplained(answer, out);
	}
	fputs(".\n", out);
}

/* Why the process hardly grows, though what is in use does. */
static void print_use(const struct answer *answer, FILE *out)
{
	const struct heap_use *use = &answer->use;
	const struct process_growth *process = &answer->process;
	const struct answer_words_rates rates = answer_words_rates(use->slope, use->low, use->high);

	if (!trend_is_growth(answer->verdict) || !use->is_known || !process->is_known ||
	    use->low <= UNSHOWN_TIMES * fmax(process->high, 0))
		return;
	fprintf(out,
		"By the allocator's own count what is in use grows by %s (%s .. %s): it is touched "
		"only in part, or fills memory that was free.\n",
		rates.rate, rates.low, rates.high);
}

static const char *trim_name(const struct answer *answer)
{
	const char *name = answer->profile->meta.heap.name;

	/* without a version where the program has it linked in */
	const bool is_glibc = name && (!strcmp(name, "glibc") || !strncmp(name, "glibc ", 6));

	return is_glibc && !strstr(name, " and ") ? "malloc_trim(0)" : "a purge";
}

static void print_part(double bytes, const char *what, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX];

	fprintf(out, "%s%s %s", hi_format_bytes(fabs(bytes), text, sizeof(text)),
		bytes < 0 ? " less" : "", what);
}

static void print_allocator(const struct answer *answer, FILE *out)
{
	if (answer->profile->meta.heap.name)
		fprintf(out, " (%s)", answer->profile->meta.heap.name);
}

static void print_trim(const struct answer *answer, FILE *out)
{
	const struct heap_moment *now = answer->heap.now;
	char text[HI_UNITS_TEXT_MAX];

	fprintf(out, "%s would give back %s%s%s", trim_name(answer),
		heap_growth_is_fragmented(now) ? "only " : "",
		hi_format_bytes((double)now->trimmable, text, sizeof(text)),
		heap_growth_is_fragmented(now) ? ", as it is fragmented" : "");
}

/* Nothing but retention: a part of the growth that is something else may be a leak. */
static bool is_only_retained(const struct answer *answer, double elsewhere, double little)
{
	return answer->verdict == TREND_STEADY && answer->heap.used <= little &&
	       elsewhere <= little;
}

/* What the process grew by, between two looks at its heap. */
static void print_heap_growth(const struct answer *answer, FILE *out)
{
	const struct heap_growth *heap = &answer->heap;
	const double elsewhere = heap->anonymous - heap->used - heap->kept - heap->own,
		     little = PART_SHARE * heap->anonymous;
	char grown[HI_UNITS_TEXT_MAX], time[HI_UNITS_TEXT_MAX];

	fprintf(out, "In the %s between two looks at its heap it grew by %s: ",
		hi_format_ns(heap->seconds * NS_PER_S, time, sizeof(time)),
		hi_format_bytes(heap->anonymous, grown, sizeof(grown)));
	print_part(heap->used, "in use by the allocator's own count", out);
	print_allocator(answer, out);
	fputs(", ", out);
	print_part(heap->kept, "retained by it", out);
	if (fabs(heap->own) >= little) {
		fputs(", ", out);
		print_part(heap->own, "its own", out);
	}
	if (fabs(elsewhere) >= little) {
		fputs(", ", out);
		print_part(elsewhere, "elsewhere", out);
	}
	if (heap->is_retained) {
		fputs(is_only_retained(answer, elsewhere, little) ? ": retention, no leak; "
								  : ": most is retention; ",
		      out);
		print_trim(answer, out);
	}
	fputs(".\n", out);
}

/* What the allocator says, where the process has grown, or much of it is retained. */
static void print_heap(const struct answer *answer, FILE *out)
{
	const struct heap_moment *now = answer->heap.now;
	char kept[HI_UNITS_TEXT_MAX], all[HI_UNITS_TEXT_MAX];

	if (answer->heap.has_grown)
		print_heap_growth(answer, out);
	if (answer->heap.is_retained || !now || !heap_growth_keeps_much(now))
		return;
	fprintf(out, "Of its %s of anonymous memory the allocator",
		hi_format_bytes((double)now->anonymous, all, sizeof(all)));
	if (!answer->heap.has_grown)
		print_allocator(answer, out);
	fprintf(out, " retains %s that are free; ",
		hi_format_bytes(heap_growth_kept(now), kept, sizeof(kept)));
	print_trim(answer, out);
	fputs(".\n", out);
}

/* The time until the limit is reached, at the rate at which the process grows. */
static void print_limit(const struct answer *answer, FILE *out)
{
	const struct profile_meta *meta = &answer->profile->meta;
	const struct process_growth *process = &answer->process;
	const double left = (double)meta->limit_bytes - (double)meta->limited_bytes;
	char limit[HI_UNITS_TEXT_MAX], time[HI_UNITS_TEXT_MAX], soon[HI_UNITS_TEXT_MAX],
		late[HI_UNITS_TEXT_MAX];

	if (!meta->limit_bytes || !process->is_known || process->low <= 0 || left <= 0)
		return;
	fprintf(out, "It reaches its limit of %s in %s (%s to %s), if it goes on like this.\n",
		hi_format_bytes((double)meta->limit_bytes, limit, sizeof(limit)),
		hi_format_ns(left / process->slope * NS_PER_S, time, sizeof(time)),
		hi_format_ns(left / process->high * NS_PER_S, soon, sizeof(soon)),
		hi_format_ns(left / process->low * NS_PER_S, late, sizeof(late)));
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void print_bars(const struct answer_row *row, FILE *out)
{
	static const char *const bars[] = {"\342\226\201", "\342\226\202", "\342\226\203",
					   "\342\226\204", "\342\226\205", "\342\226\206",
					   "\342\226\207", "\342\226\210"};

	for (size_t bar = 0; bar < ANSWER_BARS; bar++)
		fputs(bars[(size_t)fmin(7, fmax(0, 8 * row->bar[bar]))], out);
}

static void print_row(const struct answer *answer, const struct answer_row *row, FILE *out)
{
	const struct trend *trend = &row->trend;
	const struct answer_words_rates slope =
		answer_words_rates(trend->slope, trend->slope_low, trend->slope_high);
	char live[HI_UNITS_TEXT_MAX];

	fprintf(out, "  %-21s %11s %11s .. %-11s %10s  ", trend_word(trend->verdict), slope.rate,
		slope.low, slope.high, hi_format_bytes(row->live, live, sizeof(live)));
	print_bars(row, out);
	fputs("  ", out);
	answer_words_place(answer, row, out);
	fputc('\n', out);
}

void render_answer_sentence(const struct answer *answer, FILE *out)
{
	answer_sentence_print(answer, out);
}

void render_answer_sentences(const struct answer *answer, FILE *out)
{
	render_answer_sentence(answer, out);
	print_process(answer, out);
	print_use(answer, out);
	print_heap(answer, out);
	answer_mappings_print(answer, out);
	print_not_anonymous(answer, out);
	print_limit(answer, out);
}

void render_answer_text(const struct answer *answer, FILE *out)
{
	render_answer_sentences(answer, out);
	if (!answer->row_count)
		return;
	fprintf(out, "  %-21s %11s %11s    %-11s %10s\n", "", "slope", "slope, 95%", "", "held");
	for (size_t i = 0; i < answer->row_count; i++)
		print_row(answer, &answer->row[i], out);
	if (answer->growing > answer->row_count)
		fprintf(out, "  and %zu more that grow\n", answer->growing - answer->row_count);
}
