// SPDX-License-Identifier: MIT
/*
 * walk.c - walks the heaps of a process as heapinject does, and prints sums as `name=value`:
 *
 *     used, cached, free, metadata, unsure   bytes of all pieces of that kind, without their heads
 *     blocks             pieces that are used
 *     trimmable          bytes that a purge would give back; trimmable_resident: in memory of those
 *     in_units           bytes of used pieces that lie in units
 *     outside            pieces that lie in part in a unit, and units that lie in one another
 *     reread, ms         what had changed and was read again; processor time of the walk
 *
 * and one line `allocator NAME` for each allocator, or `allocator NAME refused: WHY`. It fails if
 * pieces of one kind of order or place cannot be: the rules of heap.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "heaps.h"
#include "resident.h"

#define DEADLINE_NS 60000000000u

struct sums {
	uint64_t bytes[HEAP_KINDS], blocks, trimmable, trimmable_resident;
	struct resident resident;
	struct range {
		remote_addr lo, hi;
	} *range;
	size_t count, room;
	struct heap_unit unit; /* the last one */
	uint64_t in_units;
	size_t outside;
};

static void see_place(struct sums *sums, const struct heap_piece *piece)
{
	const struct heap_unit *unit = &sums->unit;
	const remote_addr lo = piece->address - piece->head_bytes,
			  hi = piece->address + piece->bytes + piece->tail_bytes;

	if (lo >= unit->lo && hi <= unit->hi)
		sums->in_units += piece->kind == HEAP_USED ? piece->bytes : 0;
	else
		sums->outside += lo < unit->hi && hi > unit->lo;
}

static int add_unit(void *context, const struct heap_unit *unit)
{
	struct sums *sums = context;

	sums->outside += unit->lo < sums->unit.hi && unit->hi > sums->unit.lo;
	sums->unit = *unit;
	return 0;
}

static int add_piece(void *context, const struct heap_piece *piece)
{
	struct sums *sums = context;

	see_place(sums, piece);
	sums->bytes[piece->kind] += piece->bytes;
	sums->blocks += piece->kind == HEAP_USED;
	if (sums->count == sums->room) {
		sums->room = sums->room ? 2 * sums->room : 65536;
		sums->range = realloc(sums->range, sums->room * sizeof(*sums->range));
		if (!sums->range)
			return -ENOMEM;
	}
	sums->range[sums->count++] = (struct range){piece->address - piece->head_bytes,
						    piece->address + piece->bytes +
							    piece->tail_bytes};
	return 0;
}

static int add_trimmable(void *context, remote_addr lo, remote_addr hi)
{
	struct sums *sums = context;

	sums->trimmable += hi - lo;
	sums->trimmable_resident += resident_bytes(&sums->resident, lo, hi).resident;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return left->lo < right->lo ? -1 : left->lo > right->lo;
}

/* How many pieces begin before the one below them ends. */
static size_t overlaps(struct sums *sums)
{
	size_t count = 0;

	qsort(sums->range, sums->count, sizeof(*sums->range), compare);
	for (size_t i = 1; i < sums->count; i++)
		count += sums->range[i].lo < sums->range[i - 1].hi;
	return count;
}

static int walk(struct heap_source *source, pid_t pid)
{
	static struct heaps heaps;
	struct sums sums = {0};
	const struct heap_visitor visitor = {add_piece, add_trimmable, add_unit, &sums};
	uint64_t begin, reread = 0;
	int err = resident_read(source->memory, source->maps, &sums.resident);

	(void)pid;
	begin = clock_used_ns();
	if (!err)
		err = heaps_walk(source, &visitor, &heaps);
	if (err)
		return err;
	const uint64_t used_ns = clock_used_ns() - begin;

	for (size_t i = 0; i < heaps.count; i++) {
		const struct heap_found *found = &heaps.found[i];

		reread += found->reread;
		printf("allocator %s%s%s\n", found->name, *found->refusal ? " refused: " : "",
		       found->refusal);
	}
	printf("used=%llu cached=%llu free=%llu metadata=%llu unsure=%llu blocks=%llu ",
	       (unsigned long long)sums.bytes[HEAP_USED],
	       (unsigned long long)sums.bytes[HEAP_CACHED],
	       (unsigned long long)sums.bytes[HEAP_FREE],
	       (unsigned long long)sums.bytes[HEAP_METADATA],
	       (unsigned long long)sums.bytes[HEAP_UNSURE], (unsigned long long)sums.blocks);
	printf("in_units=%llu outside=%zu ", (unsigned long long)sums.in_units, sums.outside);
	printf("trimmable=%llu trimmable_resident=%llu reread=%llu overlaps=%zu ms=%llu\n",
	       (unsigned long long)sums.trimmable, (unsigned long long)sums.trimmable_resident,
	       (unsigned long long)reread, overlaps(&sums),
	       (unsigned long long)used_ns / 1000000u);
	resident_close(&sums.resident);
	free(sums.range);
	return 0;
}

int main(int argc, char **argv)
{
	const pid_t pid = argc == 2 ? atoi(argv[1]) : 0;
	struct memory memory;
	struct maps maps = {0};
	struct elf_images images = {0};
	struct pages pages;
	struct heap_source source = {&memory, &maps, &images, &pages, 0};
	int err;

	if (pid <= 0) {
		fprintf(stderr, "usage: walk PID\n");
		return 2;
	}
	err = memory_open(&memory, pid, pid);
	if (!err)
		err = maps_read(pid, pid, &maps);
	if (!err)
		err = elf_images_read(pid, &maps, &memory, &images);
	if (!err) {
		pages_open(&pages, pid, pid);
		source.deadline_ns = clock_now_ns() + DEADLINE_NS;
		err = walk(&source, pid);
		pages_close(&pages);
	}
	if (err)
		fprintf(stderr, "walk: %s\n", strerror(-err));
	elf_images_close(&images);
	maps_close(&maps);
	return err ? 1 : 0;
}
