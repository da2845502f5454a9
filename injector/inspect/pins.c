/* SPDX-License-Identifier: MIT */
/*
 * pins.c - see pins.h.
 *
 * Units, blocks and runs of what is not used are sorted by address: all are gone through once, from
 * span to span. A span is a unit that goes back as a whole, or a page; pages in the midst of one
 * block are one span.
 */
#include "pins.h"

#include <errno.h>
#include <stdlib.h>

#include "hi_page.h"

struct counter {
	const struct pins_of *of;
	struct pins *pins;
	const struct heap_unit *unit; /* at hand */
	size_t block, run;            /* those before are below the span at hand */
	size_t holding_run;           /* of runs that are not free: the same */
	/* alone holds all that was met last of the unit; and what small blocks hold of that */
	uint32_t end_group;
	uint64_t end_bytes;
};

/* A part of the unit at hand that goes back as one. */
struct span {
	remote_addr lo, hi;
	size_t blocks; /* that reach into it, from counter->block on */
	bool is_mixed; /* these are of several groups */
	bool has_cached, has_others;
	uint64_t free; /* bytes, resident, with cached ones */
};

static uint64_t resident_in(const struct counter *counter, remote_addr lo, remote_addr hi)
{
	return resident_bytes(counter->of->resident, lo, hi).resident;
}

/* ---- what holds a span ----------------------------------------------------------------------- */

/* From the first byte that stays with a block to behind the last one. */
static remote_addr hold_lo(const struct counter *counter, size_t block)
{
	return counter->of->block[block].address - counter->unit->before_bytes;
}

static remote_addr hold_hi(const struct counter *counter, size_t block)
{
	const struct mark_block *held = &counter->of->block[block];

	return held->address + held->bytes + counter->unit->after_bytes;
}

static void find_blocks(struct counter *counter, struct span *span)
{
	const struct pins_of *of = counter->of;

	while (counter->block < of->count && hold_hi(counter, counter->block) <= span->lo)
		counter->block++;
	for (size_t i = counter->block; i < of->count && hold_lo(counter, i) < span->hi; i++) {
		span->is_mixed |= of->group[i] != of->group[counter->block];
		span->blocks++;
	}
}

static void find_run(const struct counter *counter, const struct release_run *run,
		     struct span *span)
{
	const struct heap_unit *unit = counter->unit;
	const remote_addr lo = run->lo > span->lo ? run->lo : span->lo;
	const remote_addr end = run->lo + run->bytes;
	const remote_addr hi = end < span->hi ? end : span->hi;

	if ((run->kind == HEAP_FREE || run->kind == HEAP_CACHED) && lo < hi)
		span->free += resident_in(counter, lo, hi);
	span->has_cached |= run->kind == HEAP_CACHED;
	/* what the allocator has in a unit for itself goes back with it */
	span->has_others |=
		run->kind == HEAP_UNSURE || (run->kind == HEAP_METADATA && !unit->is_whole);
}

static void find_runs(struct counter *counter, struct span *span)
{
	const struct release_runs *runs = &counter->of->units->unused;
	const struct heap_unit *unit = counter->unit;
	size_t at = counter->run;

	while (at < runs->count &&
	       runs->run[at].lo + runs->run[at].bytes + unit->after_bytes <= span->lo)
		at++;
	counter->run = at;
	for (; at < runs->count && runs->run[at].lo < span->hi + unit->before_bytes; at++)
		find_run(counter, &runs->run[at], span);
}

/* To each block the same. */
static void charge(const struct counter *counter, const struct span *span)
{
	const struct pins_of *of = counter->of;
	struct pin *group = counter->pins->group;
	const uint64_t share = span->free / span->blocks, rest = span->free % span->blocks;

	for (size_t i = 0; i < span->blocks; i++)
		group[of->group[counter->block + i]].pinned += share + (i < rest);
}

/* One group alone holds the span. */
static void give_back(struct counter *counter, const struct span *span, uint64_t bytes)
{
	const struct pins_of *of = counter->of;
	const uint32_t group = of->group[counter->block];

	counter->pins->group[group].goes_back += bytes;
	if (counter->end_group != group)
		counter->end_bytes = 0;
	counter->end_group = group;
	if (of->block[counter->block + span->blocks - 1].bytes <= counter->unit->end_stays_bytes)
		counter->end_bytes += bytes;
}

static void count_span(struct counter *counter, remote_addr lo, remote_addr hi)
{
	struct span span = {.lo = lo, .hi = hi};
	struct pins *pins = counter->pins;
	const uint64_t bytes = resident_in(counter, lo, hi);

	if (!bytes)
		return;
	find_blocks(counter, &span);
	find_runs(counter, &span);
	const bool is_alone = span.blocks && !span.is_mixed && !span.has_cached && !span.has_others;

	if (is_alone)
		give_back(counter, &span, bytes);
	else if (span.blocks || span.has_cached || span.has_others)
		counter->end_bytes = 0;
	if (span.blocks) {
		charge(counter, &span);
		pins->pinned += span.free;
	} else if (span.has_cached) {
		pins->pinned_by_caches += span.free;
	} else if (span.has_others) {
		pins->pinned_by_others += span.free;
	}
}

/* ---- from span to span ----------------------------------------------------------------------- */

static remote_addr page_of(remote_addr at)
{
	return at / hi_page_bytes() * hi_page_bytes();
}

/* Where the pages end that begin at `page` and are of one block alone; `page`: none are. */
static remote_addr pages_of_one(struct counter *counter, remote_addr page)
{
	const struct heap_unit *unit = counter->unit;
	const struct pins_of *of = counter->of;
	size_t at = counter->block;

	while (at < of->count && hold_hi(counter, at) <= page)
		at++;
	counter->block = at;
	if (at == of->count || of->block[at].address + unit->after_bytes > page)
		return page;
	const remote_addr end =
		page_of(of->block[at].address + of->block[at].bytes - unit->before_bytes);

	return end > page && end <= unit->hi ? end : page;
}

/* The first page from this one on that anything but free memory may hold. */
static remote_addr next_page(struct counter *counter, remote_addr page)
{
	const struct pins_of *of = counter->of;
	const struct release_runs *runs = &of->units->unused;
	const struct heap_unit *unit = counter->unit;
	size_t block = counter->block, run = counter->holding_run;
	remote_addr next = unit->hi;

	while (block < of->count && hold_hi(counter, block) <= page)
		block++;
	while (run < runs->count && (runs->run[run].kind == HEAP_FREE ||
				     runs->run[run].lo + runs->run[run].bytes <= page))
		run++;
	counter->holding_run = run;
	if (block < of->count && hold_lo(counter, block) < next)
		next = page_of(hold_lo(counter, block));
	if (run < runs->count && runs->run[run].lo < next)
		next = page_of(runs->run[run].lo);
	return next > page ? next : page;
}

static void count_pages(struct counter *counter)
{
	const remote_addr hi = counter->unit->hi;

	counter->end_bytes = 0;
	for (remote_addr page = page_of(counter->unit->lo); page < hi;) {
		const remote_addr end = pages_of_one(counter, page);
		const remote_addr next = end > page ? end : page + hi_page_bytes();

		count_span(counter, page, next);
		page = next_page(counter, next);
	}
	if (counter->end_bytes)
		counter->pins->group[counter->end_group].goes_back -= counter->end_bytes;
}

/* ---- all ------------------------------------------------------------------------------------- */

static uint64_t resident_free(const struct pins_of *of, const struct release_runs *runs)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < runs->count; i++) {
		const struct release_run *run = &runs->run[i];

		if (run->kind == HEAP_FREE || run->kind == HEAP_CACHED)
			bytes += resident_bytes(of->resident, run->lo, run->lo + run->bytes)
					 .resident;
	}
	return bytes;
}

int pins_find(const struct pins_of *of, struct pins *out_pins)
{
	struct counter counter = {.of = of, .pins = out_pins};

	*out_pins = (struct pins){
		.free = resident_free(of, &of->units->unused),
		.trimmable = resident_free(of, &of->units->trimmable),
		.group = calloc(of->group_count + 1, sizeof(*out_pins->group)),
		.count = of->group_count,
	};
	if (!out_pins->group)
		return -ENOMEM;
	for (size_t i = 0; i < of->units->count; i++) {
		counter.unit = &of->units->unit[i];
		if (counter.unit->is_whole)
			count_span(&counter, counter.unit->lo, counter.unit->hi);
		else
			count_pages(&counter);
	}
	return 0;
}

void pins_close(struct pins *pins)
{
	free(pins->group);
	*pins = (struct pins){0};
}
