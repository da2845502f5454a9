/* SPDX-License-Identifier: MIT */
/* render_answer.c - see render_answer.h. Start at render_answer_text(). */
#include "render_answer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "hi_path.h"
#include "hi_runtimes.h"
#include "hi_units.h"

#define NS_PER_S 1e9
#define SECONDS_PER_HOUR 3600
#define SLOW 1024 /* bytes per second; below it rates are per hour */
/* a share of the growth that is as good as all of it, or none */
#define ALL_SHARE 0.9
#define NONE_SHARE 0.1
#define LITTLE_SHARE 0.3 /* of the growth: most of it is something else */
#define ENOUGH_SAMPLES 32
#define EXPLAINED_ENOUGH 0.7 /* of the growth; allocators keep memory, and round up */
#define ROUNDING_SHARE 0.05  /* of the growth; rows have what was requested */
#define MAPPED_SHARE 0.3     /* of what it grew by, mapped by one function: that is named */
#define PART_SHARE 0.05      /* of what it grew by: a part of it that is worth a word */
#define OTHER_MIN (4u << 20) /* pages of files come and go */

static bool is_slow(double rate)
{
	return fabs(rate) < SLOW;
}

/* "1.20MB/s", "30kB/h": in the unit of bytes in which `like` reads well */
static const char *format_rate_like(double rate, double like, bool is_hourly, char *text)
{
	const double seconds = is_hourly ? SECONDS_PER_HOUR : 1;
	char value[HI_UNITS_TEXT_MAX];

	snprintf(text, HI_UNITS_TEXT_MAX, "%.20s/%c",
		 hi_format_bytes_like(rate * seconds, like * seconds, value, sizeof(value)),
		 is_hourly ? 'h' : 's');
	return text;
}

static const char *format_rate(double rate, char *text)
{
	return format_rate_like(rate, rate, is_slow(rate), text);
}

/* A rate and its interval, in one unit. */
struct rate_text {
	char rate[HI_UNITS_TEXT_MAX], low[HI_UNITS_TEXT_MAX], high[HI_UNITS_TEXT_MAX];
};

static struct rate_text format_rates(double rate, double low, double high)
{
	const double like = fmax(fabs(rate), (high - low) / 2);
	struct rate_text text;

	format_rate_like(rate, like, is_slow(like), text.rate);
	format_rate_like(low, like, is_slow(like), text.low);
	format_rate_like(high, like, is_slow(like), text.high);
	return text;
}

/* "leak_here leak.c:8" */
static void print_place(const struct answer *answer, const struct answer_row *row, FILE *out)
{
	const struct function_call *call =
		row->call == NO_CALL ? NULL : &answer->frames.functions.call[row->call];

	fputs(answer_row_name(answer, row), out);
	if (call && call->file && call->line)
		fprintf(out, " %s:%" PRIu32, hi_base_name(call->file), call->line);
	if (row->through != NO_CALL)
		fprintf(out, ", through %s",
			answer->frames.functions
				.name[answer->frames.functions.call[row->through].function]);
}

/* "about 40s" */
static void print_more(double more_ns, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX];

	fprintf(out, "about %s more",
		hi_format_ns(ceil(more_ns / NS_PER_S) * NS_PER_S, text, sizeof(text)));
}

/* ---- the sentence ---------------------------------------------------------------------------- */

static void print_growth(const struct answer *answer, FILE *out)
{
	const struct answer_row *first = &answer->row[0];
	const struct rate_text all =
		format_rates(answer->slope, answer->slope_low, answer->slope_high);
	char rate[HI_UNITS_TEXT_MAX];

	fprintf(out, "It %s by %s (95%% interval %s .. %s",
		first->trend.verdict == TREND_GROWS ? "grows" : "probably grows", all.rate, all.low,
		all.high);
	if (answer->growing == 1) {
		fputs("): ", out);
	} else {
		fprintf(out, ") at %zu places, fastest, by %s, at ", answer->growing,
			format_rate(first->trend.slope, rate));
	}
	print_place(answer, first, out);
	fputs(first->is_enlarged    ? ", one block that becomes larger again and again.\n"
	      : first->is_caller    ? ", which leads to many places that allocate.\n"
	      : first->is_scattered ? ", and at many other places.\n"
				    : ".\n",
	      out);
	if (answer->explained >= 0 && answer->explained < LITTLE_SHARE)
		fprintf(out, "That is only %.0f%% of what the process grows by.\n",
			100 * answer->explained);
}

static void print_replaced(const struct answer *answer, FILE *out)
{
	const struct answer_row *first = &answer->row[0];
	char live[HI_UNITS_TEXT_MAX];

	fprintf(out, "Nothing leaks that was seen: %s more than at the start are held by ",
		hi_format_bytes(first->live, live, sizeof(live)));
	print_place(answer, first, out);
	fputs(", but the process does not grow by as much: new blocks replace older ones, or fill "
	      "memory that was free.\n",
	      out);
}

static void print_undecided(const struct answer *answer, FILE *out)
{
	const struct process_growth *process = &answer->process;
	char rate[HI_UNITS_TEXT_MAX];

	if (answer->row[0].is_holder) {
		fprintf(out,
			"The process grows by %s. Most of what it has allocated in this "
			"window is held by ",
			format_rate(process->slope, rate));
		print_place(answer, &answer->row[0], out);
		fputs(answer->row[0].trend.samples < ENOUGH_SAMPLES
			      ? ", in too few blocks to tell whether that grows. "
			      : ", of which it is not certain that it grows. ",
		      out);
	} else if (answer->row[0].trend.verdict == TREND_REPLACES) {
		fprintf(out, "The process grows by %s. What grows by its samples, most at ",
			format_rate(process->slope, rate));
		print_place(answer, &answer->row[0], out);
		fputs(", replaces older blocks as far as is known, but a leak may be among it. ",
		      out);
	} else {
		fputs("Cannot tell yet whether it grows: ", out);
		print_place(answer, &answer->row[0], out);
		fputs(" may. ", out);
	}
	if (answer->more_ns > 0) {
		fputs("It takes ", out);
		print_more(answer->more_ns, out);
		fputs(" (--duration)", out);
	} else {
		fputs("It takes a longer session (--duration)", out);
	}
	fputs(" or finer samples (--sample).\n", out);
}

static bool grows_unseen(const struct answer *answer)
{
	return answer->process.is_known && answer->process.low > answer->detectable &&
	       answer->slope_high < NONE_SHARE * answer->process.low &&
	       answer->held < ANSWER_HELD_SHARE * answer->process.bytes;
}

/*
 * Names what a language runtime maps that the process runs, if the growth is of this kind of
 * mapping, or of none.
 */
static void print_heaps(const struct answer *answer, enum mapped_kind kind, const char *before,
			FILE *out)
{
	char heaps[HI_RUNTIMES_TEXT_MAX];

	hi_runtimes_heaps(answer->profile->meta.runtimes, heaps, sizeof(heaps));
	if (*heaps && (kind == MAPPED_ANONYMOUS || kind == MAPPED_KINDS))
		fprintf(out, "%s%s", before, heaps);
}

static void print_mapper(const struct answer *answer, FILE *out)
{
	const struct functions *functions = &answer->frames.functions;
	const struct function_call *call = &functions->call[answer->mappings.call];

	fputs(functions->name[call->function], out);
	if (call->file && call->line)
		fprintf(out, " %s:%" PRIu32, hi_base_name(call->file), call->line);
}

/* Did one function map much of what the process grew by? */
static bool is_mapped(const struct answer *answer)
{
	return answer->mappings.resident != 0 &&
	       answer->mappings.most > MAPPED_SHARE * answer->process.bytes;
}

static void print_mapped(const struct answer *answer, FILE *out)
{
	char bytes[HI_UNITS_TEXT_MAX];

	print_mapper(answer, out);
	fprintf(out, " has mapped %s that are still there (report --mmap)",
		hi_format_bytes(answer->mappings.most, bytes, sizeof(bytes)));
}

static void print_unseen(const struct answer *answer, FILE *out)
{
	const struct profile_meta *meta = &answer->profile->meta;
	const enum mapped_kind kind = mapped_grown(&meta->mapped_begin, &meta->mapped_end,
						   answer->process.bytes, MAPPED_EXPLAINS);
	char rate[HI_UNITS_TEXT_MAX], bytes[HI_UNITS_TEXT_MAX];

	fprintf(out,
		"The process grows by %s, and nothing that was allocated through the hooked "
		"functions does: ",
		format_rate(answer->process.slope, rate));
	if (is_mapped(answer))
		print_mapped(answer, out);
	else if (answer->heap.is_retained)
		fputs("most of that is memory that was freed and the allocator retains", out);
	else if (kind == MAPPED_KINDS)
		fputs("it maps memory by other means, or fills memory that it has allocated "
		      "before",
		      out);
	else
		fprintf(out, "it has %s more of %s",
			hi_format_bytes(mapped_more(&meta->mapped_begin, &meta->mapped_end, kind),
					bytes, sizeof(bytes)),
			mapped_name(kind));
	if (!answer->heap.is_retained && !is_mapped(answer))
		print_heaps(answer, kind, "; that may be ", out);
	fputs(".\n", out);
}

static void print_mapped_part(double bytes, const char *what, FILE *out)
{
	char text[HI_UNITS_TEXT_MAX];

	if (bytes > 0)
		fprintf(out, ", %s %s", hi_format_bytes(bytes, text, sizeof(text)), what);
}

/* What was mapped meanwhile, where mappings were recorded. */
static void print_mappings(const struct answer *answer, FILE *out)
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

/* What is resident and not anonymous: files, and memory that processes share. */
static void print_not_anonymous(const struct answer *answer, FILE *out)
{
	const struct profile_meta *meta = &answer->profile->meta;
	const double bytes = answer->process.other_bytes;
	const enum mapped_kind kind =
		mapped_grown(&meta->mapped_begin, &meta->mapped_end, bytes, MAPPED_EXPLAINS);
	char text[HI_UNITS_TEXT_MAX];

	if (bytes < OTHER_MIN)
		return;
	fprintf(out, "It has %s more of files and shared memory resident",
		hi_format_bytes(bytes, text, sizeof(text)));
	if (kind == MAPPED_SHARED || kind == MAPPED_FILE)
		fprintf(out, ", and mapped more %s",
			kind == MAPPED_SHARED ? "shared memory" : "files");
	fputs("; neither is allocated by malloc.\n", out);
}

static void print_steady(const struct answer *answer, FILE *out)
{
	const bool is_thinned = answer->detectable_anywhere > 2 * answer->claimed;
	/* two rates in one sentence are both per second or both per hour */
	const bool is_hourly = is_slow(is_thinned ? answer->detectable_anywhere : answer->claimed);
	char rate[HI_UNITS_TEXT_MAX], anywhere[HI_UNITS_TEXT_MAX], window[HI_UNITS_TEXT_MAX];

	fprintf(out, "Nothing %sgrows in these %s; a leak of more than %s would have been found",
		answer->process.other_bytes >= OTHER_MIN ? "that was allocated " : "",
		hi_format_ns(answer->window_ns, window, sizeof(window)),
		format_rate_like(answer->claimed, answer->claimed, is_hourly, rate));
	if (is_thinned)
		fprintf(out, ", or of %s where most is allocated",
			format_rate(answer->detectable_anywhere, anywhere));
	fputs(".\n", out);
}

static void print_unsure(const struct answer *answer, FILE *out)
{
	const char *dropped = answer->profile->meta.caveat[HI_CAVEAT_DROPPED];

	if (dropped)
		fprintf(out, "Cannot tell what grows: %s.\n", dropped);
	else
		fputs("Cannot tell what grows; the notes say why.\n", out);
}

void render_answer_sentence(const struct answer *answer, FILE *out)
{
	switch (answer->verdict) {
	case TREND_GROWS:
	case TREND_PROBABLY:
		print_growth(answer, out);
		break;
	case TREND_UNSURE:
		print_unsure(answer, out);
		break;
	default:
		if (grows_unseen(answer))
			print_unseen(answer, out);
		else if (answer->verdict == TREND_REPLACES)
			print_replaced(answer, out);
		else if (answer->verdict == TREND_TOO_FEW)
			print_undecided(answer, out);
		else
			print_steady(answer, out);
	}
}

/* ---- the process ----------------------------------------------------------------------------- */

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
	print_heaps(answer, kind, "; that may be ", out);
}

static void print_process(const struct answer *answer, FILE *out)
{
	const struct process_growth *process = &answer->process;
	const struct rate_text rates = format_rates(process->slope, process->low, process->high);
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
		if (answer->rounding >= ROUNDING_SHARE * process->slope)
			fprintf(out, " (%.0f%% without what the allocator rounds up)",
				100 * fmin(answer->slope / process->slope, 1));
		print_unexplained(answer, out);
	}
	fputs(".\n", out);
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
	const struct rate_text slope =
		format_rates(trend->slope, trend->slope_low, trend->slope_high);
	char live[HI_UNITS_TEXT_MAX];

	fprintf(out, "  %-21s %11s %11s .. %-11s %10s  ", trend_word(trend->verdict), slope.rate,
		slope.low, slope.high, hi_format_bytes(row->live, live, sizeof(live)));
	print_bars(row, out);
	fputs("  ", out);
	print_place(answer, row, out);
	fputc('\n', out);
}

void render_answer_sentences(const struct answer *answer, FILE *out)
{
	render_answer_sentence(answer, out);
	print_process(answer, out);
	print_heap(answer, out);
	print_mappings(answer, out);
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
