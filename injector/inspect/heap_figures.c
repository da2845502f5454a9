/* SPDX-License-Identifier: MIT */
/* heap_figures.c - see heap_figures.h. */
#include "heap_figures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inspected.h"
#include "resident.h"

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

int heap_figures_take(const struct memory *memory, uint64_t deadline_ns,
		      struct heap_figures *out_figures)
{
	struct taker taker = {.figures = out_figures};
	const struct heap_visitor visitor = {
		.piece = take_piece, .trimmable = take_trimmable, .context = &taker};
	struct inspected inspected;
	struct proc_status status;
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
	if (!proc_status_read(memory->pid, memory->tid, &status))
		out_figures->anonymous = status.anonymous_bytes;
	resident_close(&taker.resident);
	inspected_close(&inspected);
	return err == -ETIMEDOUT ? 0 : err;
}
