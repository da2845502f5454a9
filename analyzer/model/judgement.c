/* SPDX-License-Identifier: MIT */
/* judgement.c - see judgement.h. Start at judgement_make(). */
#include "judgement.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "caveats.h"
#include "estimate.h"
#include "hi_runtimes.h"
#include "hi_units.h"
#include "mapping_rows.h"

/*
 * How many missed frees make a caveat. A few may be records that two CPUs saw in different order.
 */
#define MISSED_MIN 8u
/* sampled blocks are hardly ever sampled again at the same address */
#define MISSED_MIN_SAMPLED 3u
#define MISSED_SHARE 0.01
#define MISSED_SHARE_SAMPLED 0.002
/*
 * By how much the bytes in use may exceed the memory that there is: intervals fail one time in
 * forty at either end.
 */
#define THERE_FACTOR 1.1
#define THERE_ROOM (1u << 20)
/*
 * How much growth needs an explanation, and how much of it the allocations that were seen may
 * explain: allocators keep freed memory, and fill their memory to a half at worst.
 */
#define GROWTH_MIN (16u << 20)
#define ALLOCATED_FACTOR 3
#define IN_USE_FACTOR 8
/*
 * Of the samples, or of their frees: where no more were dropped, verdicts hold. "A leak of more
 * than
 * ... would have been found" counts on 32 samples of it (answer_find.c), and 2 % of these are less
 * than one. 2 % of the frees look like a leak of as much of what is allocated, which is not said to
 * grow unless the process does (answer_compare.c). A few are no share.
 */
#define DROPPED_SHARE 0.02
#define DROPPED_MIN 8u
#define UNSEEN_INTERVALS 3.0 /* one time in twenty, as many intervals pass without a sample */
/* A piece of address space that is full of blocks has a sample with a probability of 1 - e^-8. */
#define PIECE_INTERVALS 8u
#define PIECE_MIN (64u << 10)

__attribute__((format(printf, 3, 4))) static int set(struct profile *profile, enum hi_caveat kind,
						     const char *format, ...)
{
	char text[CAVEATS_TEXT_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return caveats_set(&profile->meta, kind, text);
}

static uint64_t coarsest_interval(const struct profile *profile)
{
	uint64_t coarsest = 1;

	for (size_t i = 0; i < profile->row_count; i++)
		coarsest = profile->row[i].key.interval > coarsest ? profile->row[i].key.interval
								   : coarsest;
	return coarsest;
}

uint64_t judgement_spread_piece(const struct profile *profile)
{
	const uint64_t wanted = coarsest_interval(profile) * PIECE_INTERVALS;
	uint64_t piece = PIECE_MIN;

	while (piece < wanted)
		piece *= 2;
	return piece;
}

/* The extreme amounts that the intervals allow. */
struct amounts {
	double allocated_most, in_use_least, in_use_most;
};

static struct amounts amounts_of(const struct profile *profile)
{
	const struct estimate allocated = estimate_total(profile, ALLOC_SPACE),
			      in_use = estimate_total(profile, INUSE_SPACE);
	const uint64_t interval =
		profile->row_count ? coarsest_interval(profile) : profile->meta.interval;
	const double unseen =
		interval > HI_INTERVAL_EXACT ? UNSEEN_INTERVALS * (double)interval : 0;
	struct amounts amounts;
	double low;

	estimate_interval(&allocated, &low, &amounts.allocated_most);
	estimate_interval(&in_use, &amounts.in_use_least, &amounts.in_use_most);
	amounts.allocated_most = fmax(amounts.allocated_most, unseen);
	amounts.in_use_most =
		fmax(fmax(amounts.in_use_most, (double)profile->meta.peak_inuse_bytes), unseen);
	return amounts;
}

/*
 * A block that is allocated again without a free in between was freed past the hooks. Frees that
 * the ring had no room for are a different matter, reported separately, and do not count here.
 */
static int judge_missed(struct profile *profile)
{
	const struct profile_meta *meta = &profile->meta;
	const bool is_sampled = coarsest_interval(profile) > HI_INTERVAL_EXACT;
	const uint64_t missed = meta->missed_frees > meta->dropped_frees
					? meta->missed_frees - meta->dropped_frees
					: 0;
	const double share = (double)missed / ((double)missed + (double)meta->frees + 1);

	if (meta->unhooked_frees)
		return set(profile, HI_CAVEAT_MISSED_FREES,
			   "its frees go to %s, which is not hooked: what is in use is too high",
			   meta->unhooked_frees);
	if (missed < (is_sampled ? MISSED_MIN_SAMPLED : MISSED_MIN) ||
	    share < (is_sampled ? MISSED_SHARE_SAMPLED : MISSED_SHARE))
		return 0;
	return set(profile, HI_CAVEAT_MISSED_FREES,
		   "frees go past the hooks: %" PRIu64
		   " sampled blocks were given out again without a free in between (%" PRIu64
		   " frees were seen): what is in use is too high%s",
		   missed, meta->frees, is_sampled ? "; --sample 1 finds them" : "");
}

/*
 * Blocks in use do not overlap, and lie in writable memory. So they cannot exceed the memory there
 * is.
 */
static int judge_in_use(struct profile *profile, const struct amounts *amounts)
{
	const struct profile_memory *memory = &profile->meta.memory;
	char low[HI_UNITS_TEXT_MAX], there[HI_UNITS_TEXT_MAX];

	hi_format_bytes(amounts->in_use_least, low, sizeof(low));
	if (memory->writable_end &&
	    amounts->in_use_least > (double)memory->writable_end * THERE_FACTOR + THERE_ROOM)
		return set(profile, HI_CAVEAT_IMPOSSIBLE,
			   "what is in use cannot be right: the samples stand for %s at least, and "
			   "the process has %s of memory for it; frees go past the hooks",
			   low,
			   hi_format_bytes((double)memory->writable_end, there, sizeof(there)));
	if (memory->spread &&
	    amounts->in_use_least > (double)memory->spread * THERE_FACTOR + THERE_ROOM)
		return set(profile, HI_CAVEAT_IMPOSSIBLE,
			   "what is in use cannot be right: the samples stand for %s at least, and "
			   "all of them lie in %s of memory; frees go past the hooks",
			   low, hi_format_bytes((double)memory->spread, there, sizeof(there)));
	return 0;
}

/* Writes how much of the growth the hooks have seen, if that is little; else an empty text. */
static void format_growth(const struct profile *profile, const struct amounts *amounts, char *text,
			  size_t size)
{
	const struct profile_memory *memory = &profile->meta.memory;
	const double growth = memory->anonymous_begin ? (double)memory->anonymous_end -
								(double)memory->anonymous_begin
						      : 0;
	char growth_text[HI_UNITS_TEXT_MAX], seen[HI_UNITS_TEXT_MAX];
	double mapped, mapped_inuse;

	*text = 0;
	mapping_rows_sum(profile, &mapped, &mapped_inuse);
	hi_format_bytes(growth, growth_text, sizeof(growth_text));
	if (growth >= GROWTH_MIN + ALLOCATED_FACTOR * (amounts->allocated_most + mapped))
		snprintf(text, size,
			 "the process grew by %s, of which the hooked functions account for at "
			 "most %s",
			 growth_text,
			 hi_format_bytes(amounts->allocated_most + mapped, seen, sizeof(seen)));
	else if (growth >= GROWTH_MIN + IN_USE_FACTOR * (amounts->in_use_most + mapped_inuse))
		snprintf(text, size,
			 "the process grew by %s, while through the hooked functions it had at "
			 "most %s at a time",
			 growth_text,
			 hi_format_bytes(amounts->in_use_most + mapped_inuse, seen, sizeof(seen)));
}

/* What may have grown instead. */
static const char *other_means(enum mapped_kind kind)
{
	switch (kind) {
	case MAPPED_BRK:
		return "moves brk, as an allocator does that is not hooked, or fills memory that "
		       "it had before";
	case MAPPED_ANONYMOUS:
		return "maps memory by other means (mmap, an allocator of its own)";
	case MAPPED_STACK:
		return "has more stacks of threads";
	default:
		return "allocates by other means (mmap, an allocator of its own), or fills memory "
		       "that it had before";
	}
}

/*
 * Writes to `expected` what may explain the growth, if the process runs what has a heap of its own:
 * then nothing is missing.
 */
static int judge_growth(struct profile *profile, const char *growth, char *expected, size_t size)
{
	const struct profile_meta *meta = &profile->meta;
	const enum mapped_kind kind = mapped_grown(&meta->mapped_begin, &meta->mapped_end,
						   (double)meta->memory.anonymous_end -
							   (double)meta->memory.anonymous_begin,
						   MAPPED_EXPLAINS);
	char heaps[CAVEATS_TEXT_MAX / 4] = "";

	if (kind == MAPPED_ANONYMOUS || kind == MAPPED_KINDS)
		hi_runtimes_heaps(meta->runtimes, heaps, sizeof(heaps));
	if (*heaps) {
		snprintf(expected, size, "; %s; that may be %s", growth, heaps);
		return 0;
	}
	return set(profile, HI_CAVEAT_OTHER_MEANS, "%s: it %s", growth, other_means(kind));
}

static int judge_unseen(struct profile *profile, const struct amounts *amounts, char *expected,
			size_t size)
{
	const char *unhooked = profile->meta.unhooked;
	char growth[CAVEATS_TEXT_MAX / 4];

	*expected = 0;
	format_growth(profile, amounts, growth, sizeof(growth));
	if (profile->meta.paused_ns) /* which may explain it */
		*growth = 0;
	if (unhooked && *unhooked)
		return set(profile, HI_CAVEAT_UNHOOKED,
			   "its allocations go to %s, which is not hooked: they are not in these "
			   "figures%s%s",
			   unhooked, *growth ? "; " : "", growth);
	return *growth ? judge_growth(profile, growth, expected, size) : 0;
}

/* expected: of judge_growth(). */
static int judge_runtimes(struct profile *profile, const char *expected)
{
	char text[HI_RUNTIMES_TEXT_MAX];

	hi_runtimes_describe(profile->meta.runtimes, text, sizeof(text));
	return *text ? set(profile, HI_CAVEAT_OTHER_HEAP, "%s%s", text, expected) : 0;
}

static int judge_paused(struct profile *profile)
{
	const struct profile_meta *meta = &profile->meta;
	char paused[HI_UNITS_TEXT_MAX], whole[HI_UNITS_TEXT_MAX];

	if (!meta->paused_ns)
		return 0;
	return set(profile, HI_CAVEAT_PAUSED,
		   "for %s of these %s nothing was sampled (heapinject pause): what was allocated "
		   "then is not in these figures",
		   hi_format_ns((double)meta->paused_ns, paused, sizeof(paused)),
		   hi_format_ns((double)meta->duration_ns, whole, sizeof(whole)));
}

static double share_of(uint64_t dropped, uint64_t seen)
{
	return dropped < DROPPED_MIN ? 0 : (double)dropped / ((double)dropped + (double)seen);
}

/* Which of both was dropped, in per cent. */
static void format_dropped(double samples, double frees, char *text, size_t size)
{
	if (samples > 0 && frees > 0)
		snprintf(text, size, "%.0f%% of the samples and %.0f%% of their frees",
			 100 * samples, 100 * frees);
	else
		snprintf(text, size, "%.0f%% of %s", 100 * (samples > 0 ? samples : frees),
			 samples > 0 ? "the samples" : "the frees of samples");
}

static int judge_dropped(struct profile *profile)
{
	const struct profile_meta *meta = &profile->meta;
	const double samples = share_of(meta->dropped_allocs, meta->samples),
		     frees = share_of(meta->dropped_frees, meta->frees),
		     given_up = share_of(meta->live_set_full, meta->samples);
	char dropped[CAVEATS_TEXT_MAX / 8], rate[HI_UNITS_TEXT_MAX];

	if (samples > DROPPED_SHARE || frees > DROPPED_SHARE) {
		format_dropped(samples, frees, dropped, sizeof(dropped));
		return set(profile, HI_CAVEAT_DROPPED,
			   "%s were dropped, as the reader did not keep up; --sample %s would have "
			   "fitted",
			   dropped, profile_fitting_rate(profile, rate, sizeof(rate)));
	}
	if (given_up > DROPPED_SHARE)
		return set(profile, HI_CAVEAT_DROPPED,
			   "%.0f%% of the samples were given up, as too many sampled blocks were "
			   "live; take fewer (--sample), or have room for more (--live-max)",
			   100 * given_up);
	return 0;
}

int judgement_make(struct profile *profile)
{
	char expected[CAVEATS_TEXT_MAX];
	int err;

	caveats_clear(&profile->meta); /* the old ones would withdraw the intervals */
	const struct amounts amounts = amounts_of(profile);
	err = judge_missed(profile);
	if (!err)
		err = judge_in_use(profile, &amounts);
	if (!err)
		err = judge_paused(profile);
	if (!err)
		err = judge_dropped(profile);
	if (!err)
		err = judge_unseen(profile, &amounts, expected, sizeof(expected));
	return err ? err : judge_runtimes(profile, expected);
}
