/* SPDX-License-Identifier: MIT */
/*
 * references.c - see references.h. The graph is built in the order of its nodes: while places are
 * scanned it is not known yet how many there will be, so that their edges have indices of blocks,
 * and get the numbers of nodes afterwards.
 */
#include "references.h"

#include <errno.h>
#include <stdlib.h>

#include "array_room.h"
#include "elf_debug.h"
#include "glibc_bins.h"
#include "glibc_links.h"
#include "live_roots.h"
#include "plain_text.h"
#include "words.h"

struct scan {
	struct inspected *inspected;
	struct references *references;
	struct block_index index;
	struct words words;
	struct mark_memory memory;
	const struct mark_links *links;
	int err;
	/* the range that is scanned, and the part of it where glibc's lists are */
	const struct live_root *live;
	struct glibc_bins_part bins;
	uint32_t block; /* that is scanned */
};

/* ---- places ---------------------------------------------------------------------------------- */

static int add_root(struct references *references, const struct reference_root *root)
{
	const int err = array_make_room((void **)&references->root, references->root_count,
					&references->root_room, sizeof(*references->root), 1);

	if (!err)
		references->root[references->root_count++] = *root;
	return err;
}

/* The place in which the word at `at` is, as one that nothing was found in before. */
static struct reference_root place_at(const struct scan *scan, remote_addr at)
{
	const struct data_places *data = &scan->references->data;
	const struct data_segment *segment = data_places_segment(data, at);
	const struct data_variable *variable = segment ? data_places_variable(data, at) : NULL;
	const struct live_root *live = scan->live;
	struct reference_root root = {.kind = REFERENCE_MAPPING,
				      .lo = live->mapping->lo,
				      .hi = live->mapping->hi,
				      .name = live->mapping->path};
	struct proc_status status;

	if (variable)
		return (struct reference_root){.kind = REFERENCE_VARIABLE,
					       .lo = variable->lo,
					       .hi = variable->hi,
					       .segment = segment,
					       .image = segment->image,
					       .name = data->names + variable->name};
	if (segment)
		return (struct reference_root){.kind = REFERENCE_DATA,
					       .lo = at,
					       .hi = at + MARK_WORD_BYTES,
					       .segment = segment,
					       .image = segment->image};
	if (!live->tid)
		return root;
	root.kind = REFERENCE_STACK;
	root.lo = live->lo;
	root.tid = live->tid;
	if (!proc_status_read(scan->inspected->memory->pid, live->tid, &status))
		plain_text_copy(root.thread, sizeof(status.comm) + 1, status.comm);
	return root;
}

/* Does the word belong to the place that was found last? */
static bool is_in_last(const struct scan *scan, remote_addr at)
{
	const struct references *references = scan->references;

	if (!references->root_count)
		return false;
	struct reference_root *last = &references->root[references->root_count - 1];

	if (last->kind == REFERENCE_REST)
		return true;
	if (at >= last->lo && at < last->hi)
		return last->kind != REFERENCE_MAPPING ||
		       !data_places_segment(&references->data, at);
	if (last->kind != REFERENCE_DATA || at != last->hi || at >= last->segment->hi ||
	    data_places_variable(&references->data, at))
		return false;
	last->hi = at + MARK_WORD_BYTES;
	return true;
}

static int begin_place(struct scan *scan, remote_addr at)
{
	struct references *references = scan->references;
	const struct reference_root rest = {.kind = REFERENCE_REST};
	const bool is_rest = references->root_count == REFERENCES_ROOTS_MAX - 1;
	const struct reference_root root = is_rest ? rest : place_at(scan, at);
	const int err = references->root_count ? graph_end_node(&references->graph) : 0;

	return err ? err : add_root(references, &root);
}

static void scan_place(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	struct scan *scan = visitor;
	struct references *references = scan->references;
	uint32_t block;

	for (size_t i = 0; i < count && !scan->err; i++, at += MARK_WORD_BYTES) {
		if (!block_index_find(&scan->index, word[i], &block))
			continue;
		if (at >= scan->bins.lo && at < scan->bins.hi &&
		    glibc_bins_is_next_chunk(&scan->index.block[block], word[i]))
			continue;
		if (!is_in_last(scan, at))
			scan->err = begin_place(scan, at);
		const remote_addr lo = references->root[references->root_count - 1].lo;
		if (!scan->err)
			scan->err = graph_add_edge(&references->graph, block,
						   (at - lo) / MARK_WORD_BYTES);
	}
}

static int scan_live(void *context, const struct live_root *root)
{
	struct scan *scan = context;

	scan->live = root;
	scan->words.is_shared = root->mapping->shared;
	int err = glibc_bins_find_part(&scan->memory, root->lo, root->hi, &scan->bins);
	if (!err)
		err = mark_memory_walk(&scan->memory, root->lo, root->hi, scan_place, scan);
	scan->words.is_shared = false;
	return err ? err : scan->err;
}

static int scan_places(struct scan *scan, const struct used_blocks *blocks)
{
	struct references *references = scan->references;
	struct graph *graph = &references->graph;
	int err = live_roots_visit(scan->inspected->memory, &references->maps, blocks, scan_live,
				   scan);

	if (!err && references->root_count)
		err = graph_end_node(graph);
	references->places = references->root_count;
	for (uint32_t i = 0; i < graph->edges; i++)
		graph->to[i] += references->places;
	return err;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void scan_block(void *visitor, uint64_t at, const uint64_t *word, size_t count)
{
	struct scan *scan = visitor;
	const remote_addr begin = scan->index.block[scan->block].address;
	uint32_t to;

	for (size_t i = 0; i < count && !scan->err; i++, at += MARK_WORD_BYTES)
		if (block_index_find_from_block(&scan->index, scan->links, at, word[i], &to) &&
		    to != scan->block)
			scan->err = graph_add_edge(&scan->references->graph,
						   references_node(scan->references, to),
						   (at - begin) / MARK_WORD_BYTES);
}

/* What is not scanned in time has no references. */
static int scan_blocks(struct scan *scan)
{
	struct references *references = scan->references;
	int err = 0;

	for (scan->block = 0; scan->block < references->block_count && !err; scan->block++) {
		if (!references->is_late)
			err = mark_memory_walk_block(&scan->memory, &references->block[scan->block],
						     scan_block, scan);
		if (err == -ETIMEDOUT) {
			references->is_late = true;
			err = 0;
		}
		err = err ? err : scan->err;
		if (!err)
			err = graph_end_node(&references->graph);
	}
	return err;
}

/* ---- above them ------------------------------------------------------------------------------ */

/* A node for each object that has places. Places and images are sorted by address. */
static int add_objects(struct references *references, const struct elf_images *images)
{
	const uint32_t places = references->places;
	uint32_t at = 0;
	int err = 0;

	for (size_t i = 0; i < images->count && !err; i++) {
		const struct elf_image *image = &images->image[i];
		const struct reference_root root = {
			.kind = REFERENCE_OBJECT, .lo = image->lo, .hi = image->hi, .image = image};
		uint32_t count = 0;

		while (at < places && references->root[at].lo < image->lo)
			at++;
		for (; at < places && references->root[at].lo < image->hi && !err; at++)
			if (references->root[at].image == image) {
				err = graph_add_edge(&references->graph, at, count);
				count++;
			}
		if (count && !err)
			err = add_root(references, &root);
		if (count && !err)
			err = graph_end_node(&references->graph);
	}
	return err;
}

static uint8_t rank_of(enum reference_kind kind)
{
	return kind == REFERENCE_STACK                               ? 1
	       : kind == REFERENCE_MAPPING || kind == REFERENCE_REST ? 2
								     : 0;
}

/* With the nodes so far as roots; two are to come. */
static int rank(struct references *references)
{
	struct graph_root *root = malloc((references->root_count + 1ull) * sizeof(*root));
	int err = root ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < references->root_count && !err; i++) {
		const uint32_t node = i < references->places ? i : references->block_count + i;

		root[i] = (struct graph_root){node, rank_of(references->root[i].kind)};
	}
	if (!err)
		err = graph_rank(&references->graph, root, references->root_count, 2);
	free(root);
	return err;
}

static int add_nothing(struct references *references)
{
	const struct reference_root root = {.kind = REFERENCE_NOTHING};
	struct graph_leaders leaders = {0};
	int err = rank(references);

	if (!err)
		err = graph_find_leaders(&references->graph, &leaders);
	references->nothing = references->graph.nodes;
	for (uint32_t i = 0; i < leaders.count && !err; i++)
		err = graph_add_edge(&references->graph, leaders.node[i], i);
	if (!err)
		err = graph_end_node(&references->graph);
	free(leaders.node);
	return err ? err : add_root(references, &root);
}

static int add_all(struct references *references)
{
	const struct reference_root root = {.kind = REFERENCE_ALL};
	int err = 0;

	references->all = references->graph.nodes;
	for (uint32_t i = 0; i < references->root_count && !err; i++) {
		const uint32_t node = i < references->places ? i : references->block_count + i;

		/* its object has it */
		if (!references->root[i].image || references->root[i].kind == REFERENCE_OBJECT)
			err = graph_add_edge(&references->graph, node, i);
	}
	if (!err)
		err = graph_end_node(&references->graph);
	return err ? err : add_root(references, &root);
}

static int build(struct scan *scan, const struct used_blocks *blocks)
{
	struct references *references = scan->references;
	int err = scan_places(scan, blocks);

	if (!err)
		err = scan_blocks(scan);
	references->pointers = references->graph.edges;
	if (!err)
		err = add_objects(references, &scan->inspected->images);
	if (!err)
		err = add_nothing(references);
	return err ? err : add_all(references);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int scan_all(struct scan *scan, const struct used_blocks *blocks)
{
	const uint64_t deadline_ns = scan->inspected->source.deadline_ns;
	const struct memory *memory = scan->inspected->memory;
	struct words beside = {0};
	int err = words_open(&scan->words, memory, deadline_ns);

	if (!err)
		err = words_open(&beside, memory, deadline_ns);
	scan->words.is_sparing = beside.is_sparing = true;
	const struct mark_memory beside_memory = words_memory(&beside);
	struct glibc_links of_glibc = {.memory = &beside_memory};
	const struct mark_links links = glibc_links(&of_glibc);

	scan->links = &links;
	scan->memory = words_memory(&scan->words);
	if (!err)
		err = build(scan, blocks);
	words_close(&scan->words);
	words_close(&beside);
	return err;
}

int references_find(struct inspected *inspected, const struct used_blocks *blocks,
		    struct references *out_references)
{
	const struct memory *memory = inspected->memory;
	struct scan scan = {.inspected = inspected, .references = out_references};

	*out_references = (struct references){.block = blocks->block,
					      .block_count = (uint32_t)blocks->count,
					      .is_of_copy = memory->copy};
	elf_debug_find(&inspected->images, memory->pid, memory->tid);
	int err = maps_of(memory, &out_references->maps);
	if (!err)
		err = data_places_find(&inspected->images, &out_references->data);
	if (!err)
		err = block_index_open(&scan.index, blocks->block, blocks->count);
	if (!err)
		err = scan_all(&scan, blocks);
	block_index_close(&scan.index);
	return err;
}

void references_close(struct references *references)
{
	graph_close(&references->graph);
	data_places_close(&references->data);
	maps_close(&references->maps);
	free(references->root);
	*references = (struct references){0};
}

const struct reference_root *references_root(const struct references *references, uint32_t node)
{
	if (node < references->places)
		return &references->root[node];
	return node < references->places + references->block_count
		       ? NULL
		       : &references->root[node - references->block_count];
}

const struct mark_block *references_block(const struct references *references, uint32_t node)
{
	return references_root(references, node) ? NULL
						 : &references->block[node - references->places];
}
