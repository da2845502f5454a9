/* SPDX-License-Identifier: MIT */
/* heap_figures.c - see heap_figures.h. */
#include "heap_figures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "arena_resident.h"
#include "inspected.h"
#include "resident.h"

#define NEAR_BYTES (64u << 10) /* of two figures that are taken for the same */
#define READS_MAX 8u

struct taker {
	struct heap_figures *figures;
	struct resident resident;
};

static uint64_t present(const struct resident_bytes *bytes)
{
	return bytes->resident + bytes->swapped;
}

static int take_piece(void *context, const struct heap_piece *piece)
{
	struct taker *taker = context;
	struct heap_figures *figures = taker->figures;
	uint64_t *const sum[HEAP_KINDS] = {
		[HEAP_USED] = &figures->used,     [HEAP_CACHED] = &figures->cached,
		[HEAP_FREE] = &figures->free,     [HEAP_METADATA] = &figures->own,
		[HEAP_UNSURE] = &figures->unsure,
	};
	const struct resident_bytes head = resident_bytes(
		&taker->resident, piece->address - piece->head_bytes, piece->address);
	const struct resident_bytes block =
		resident_bytes(&taker->resident, piece->address, piece->address + piece->bytes);

	figures->own += present(&head);
	*sum[piece->kind] += present(&block);
	if (piece->kind == HEAP_USED) {
		figures->used_bytes += piece->bytes;
		figures->used_count++;
	}
	return 0;
}

static int take_trimmable(void *context, remote_addr lo, remote_addr hi)
{
	struct taker *taker = context;

	taker->figures->trimmable += resident_bytes(&taker->resident, lo, hi).resident;
	return 0;
}

static void refuse(struct heap_figures *figures, const char *name, const char *why)
{
	const bool is_named = !*name || strstr(why, name);

	if (!*figures->refusal)
		snprintf(figures->refusal, sizeof(figures->refusal), "%.60s%s%.60s",
			 is_named ? "" : name, is_named ? "" : ": ", why);
}

static void take_names(const struct heaps *heaps, struct heap_figures *figures)
{
	for (size_t i = 0; i < heaps->count; i++) {
		const struct heap_found *found = &heaps->found[i];
		const size_t length = strlen(figures->name);

		snprintf(figures->name + length, sizeof(figures->name) - length, "%s%s",
			 i ? " and " : "", found->name);
		if (*found->refusal)
			refuse(figures, found->name, found->refusal);
	}
	if (!heaps->count && !heaps->unused)
		refuse(figures, "", "no allocator was found that it uses");
}

/* What of its anonymous bytes a session has in it. */
static uint64_t session_bytes(const struct memory *memory, struct inspected *inspected)
{
	const struct maps *maps = &inspected->maps;
	uint64_t bytes = 0;
	remote_addr lo, hi;

	/* the process can write the size of the arena: only what is mapped is looked at */
	arena_range(maps, memory, &lo, &hi);
	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *mapping = &maps->mapping[i];
		struct arena_resident own;

		if (mapping->lo < lo || mapping->hi > hi)
			continue;
		arena_resident_read(&inspected->pages, mapping->lo, mapping->hi, &own);
		bytes += own.anonymous;
	}
	return bytes;
}

static bool is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < NEAR_BYTES;
}

/*
 * Its anonymous bytes without those of a session, which may unmap them at this moment: the kernel
 * counts them until all are freed, though they are mapped no more. So both figures are read until
 * neither has changed.
 */
static uint64_t anonymous_bytes(const struct memory *memory, struct inspected *inspected)
{
	struct proc_status status = {0}, before;
	uint64_t own = 0, own_before;
	unsigned reads = 0;

	do {
		before = status;
		own_before = own;
		own = session_bytes(memory, inspected);
		if (proc_status_read(memory->pid, memory->tid, &status))
			return 0;
	} while (++reads < READS_MAX && (reads == 1 || !is_near(own, own_before) ||
					 !is_near(status.anonymous_bytes, before.anonymous_bytes)));
	return status.anonymous_bytes > own ? status.anonymous_bytes - own : 0;
}

int heap_figures_take(const struct memory *memory, uint64_t deadline_ns,
		      struct heap_figures *out_figures)
{
	struct taker taker = {.figures = out_figures};
	const struct heap_visitor visitor = {
		.piece = take_piece, .trimmable = take_trimmable, .context = &taker};
	struct inspected inspected;
	struct heaps heaps = {0};

	*out_figures = (struct heap_figures){0};
	int err = inspected_open(&inspected, memory, deadline_ns);
	if (!err)
		err = resident_read(memory, &inspected.maps, &taker.resident);
	if (!err)
		err = heaps_walk(&inspected.source, &visitor, &heaps);
	if (err == -ETIMEDOUT)
		refuse(out_figures, "", "it takes too long");
	else if (!err)
		take_names(&heaps, out_figures);
	out_figures->anonymous = anonymous_bytes(memory, &inspected);
	resident_close(&taker.resident);
	inspected_close(&inspected);
	return err == -ETIMEDOUT ? 0 : err;
}
