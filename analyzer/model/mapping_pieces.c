/* SPDX-License-Identifier: MIT */
/* mapping_pieces.c - see mapping_pieces.h. */
#include "mapping_pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

/* ---- mappings -------------------------------------------------------------------------------- */

static int new_mapping(struct mapping_pieces *pieces, uint32_t row, uint64_t born_ns,
		       uint32_t *out_mapping)
{
	uint32_t index;

	if (pieces->unused) {
		index = pieces->unused - 1;
		pieces->unused = pieces->mapping[index].next_unused;
	} else {
		if (array_reserve(&pieces->mapping, &pieces->mapping_capacity,
				  pieces->mapping_count, sizeof(*pieces->mapping)))
			return -ENOMEM;
		index = (uint32_t)pieces->mapping_count++;
	}
	pieces->mapping[index] = (struct mapping_sample){.row = row, .born_ns = born_ns};
	*out_mapping = index;
	return 0;
}

static void drop_unused(struct mapping_pieces *pieces, uint32_t index)
{
	struct mapping_sample *mapping = &pieces->mapping[index];

	if (mapping->pieces || mapping->undos)
		return;
	mapping->next_unused = pieces->unused;
	pieces->unused = index + 1;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Index of the first piece that ends above the address. */
static size_t first_above(const struct mapping_pieces *pieces, uint64_t address)
{
	size_t low = 0, high = pieces->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (pieces->piece[middle].hi > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int make_room(struct mapping_pieces *pieces)
{
	if (pieces->count >= MAPPING_PIECES_MAX)
		return -E2BIG;
	return array_reserve(&pieces->piece, &pieces->capacity, pieces->count,
			     sizeof(*pieces->piece));
}

/* Room was made. */
static void insert(struct mapping_pieces *pieces, size_t at, const struct mapping_piece *piece)
{
	memmove(pieces->piece + at + 1, pieces->piece + at,
		(pieces->count - at) * sizeof(*pieces->piece));
	pieces->piece[at] = *piece;
	pieces->count++;
	pieces->mapping[piece->mapping].pieces++;
}

int mapping_pieces_add(struct mapping_pieces *pieces, uint64_t lo, uint64_t hi, uint32_t row,
		       uint64_t born_ns)
{
	struct mapping_piece piece = {.lo = lo, .hi = hi};
	int err = make_room(pieces);

	if (!err)
		err = new_mapping(pieces, row, born_ns, &piece.mapping);
	if (!err)
		insert(pieces, first_above(pieces, lo), &piece);
	return err;
}

static void tell(const struct mapping_pieces *pieces, const struct mapping_piece *part,
		 bool is_last, mapping_visit *visit, void *context)
{
	const struct mapping_sample *mapping = &pieces->mapping[part->mapping];

	visit(context, &(struct mapping_part){.row = mapping->row,
					      .bytes = part->hi - part->lo,
					      .born_ns = mapping->born_ns,
					      .is_last = is_last});
}

static int remember(struct mapping_undo *undo, const struct mapping_piece *part,
		    struct mapping_sample *mapping)
{
	if (array_reserve(&undo->piece, &undo->capacity, undo->count, sizeof(*undo->piece)))
		return -ENOMEM;
	undo->piece[undo->count++] = *part;
	mapping->undos++;
	return 0;
}

/* undo: NULL = it is not remembered */
static int cut(struct mapping_pieces *pieces, uint64_t lo, uint64_t hi, struct mapping_undo *undo,
	       mapping_visit *visit, void *context)
{
	const size_t first = first_above(pieces, lo);
	size_t at = first, kept = first;
	int err = make_room(pieces); /* what is cut in its middle becomes two */

	while (!err && at < pieces->count && pieces->piece[at].lo < hi) {
		struct mapping_piece *piece = &pieces->piece[at];
		const struct mapping_piece part = {.lo = piece->lo > lo ? piece->lo : lo,
						   .hi = piece->hi < hi ? piece->hi : hi,
						   .mapping = piece->mapping},
					   after = {.lo = hi,
						    .hi = piece->hi,
						    .mapping = piece->mapping};
		struct mapping_sample *mapping = &pieces->mapping[part.mapping];

		if (undo)
			err = remember(undo, &part, mapping);
		if (err)
			break;
		if (piece->lo < lo && piece->hi > hi) {
			piece->hi = lo;
			insert(pieces, at + 1, &after);
			tell(pieces, &part, false, visit, context);
			return 0;
		}
		if (piece->lo < lo)
			piece->hi = lo;
		else if (piece->hi > hi)
			piece->lo = hi;
		else
			mapping->pieces--;
		tell(pieces, &part, !mapping->pieces, visit, context);
		drop_unused(pieces, part.mapping);
		if (part.lo != piece->lo || part.hi != piece->hi)
			pieces->piece[kept++] = *piece;
		at++;
	}
	memmove(pieces->piece + kept, pieces->piece + at,
		(pieces->count - at) * sizeof(*pieces->piece));
	pieces->count -= at - kept;
	return err;
}

int mapping_pieces_cut(struct mapping_pieces *pieces, uint64_t lo, uint64_t hi,
		       mapping_visit *visit, void *context)
{
	return pieces->count ? cut(pieces, lo, hi, NULL, visit, context) : 0;
}

/* ---- undone ---------------------------------------------------------------------------------- */

static void forget(struct mapping_pieces *pieces, struct mapping_undo *undo)
{
	for (size_t i = 0; i < undo->count; i++) {
		pieces->mapping[undo->piece[i].mapping].undos--;
		drop_unused(pieces, undo->piece[i].mapping);
	}
	undo->count = 0;
}

int mapping_pieces_take_off(struct mapping_pieces *pieces, uint32_t thread, uint64_t lo,
			    uint64_t hi, mapping_visit *visit, void *context)
{
	struct mapping_undo *undo = &pieces->undo[pieces->undo_next];

	pieces->undo_next = (pieces->undo_next + 1) % MAPPING_UNDO;
	forget(pieces, undo);
	undo->thread = thread;
	undo->lo = lo;
	return pieces->count ? cut(pieces, lo, hi, undo, visit, context) : 0;
}

static struct mapping_undo *find_undo(struct mapping_pieces *pieces, uint32_t thread, uint64_t lo)
{
	for (size_t i = 1; i <= MAPPING_UNDO; i++) {
		struct mapping_undo *undo =
			&pieces->undo[(pieces->undo_next + MAPPING_UNDO - i) % MAPPING_UNDO];

		if (undo->thread == thread)
			return undo->lo == lo ? undo : NULL;
	}
	return NULL;
}

int mapping_pieces_put_back(struct mapping_pieces *pieces, uint32_t thread, uint64_t lo,
			    mapping_visit *visit, void *context)
{
	struct mapping_undo *undo = find_undo(pieces, thread, lo);
	int err = 0;

	for (size_t i = 0; undo && i < undo->count && !err; i++) {
		const struct mapping_piece *part = &undo->piece[i];
		const size_t at = first_above(pieces, part->lo);

		/* of what is mapped there by now, the call that failed knew nothing */
		if (at < pieces->count && pieces->piece[at].lo < part->hi)
			continue;
		err = make_room(pieces);
		if (err)
			break;
		tell(pieces, part, !pieces->mapping[part->mapping].pieces, visit, context);
		insert(pieces, at, part);
	}
	if (undo)
		forget(pieces, undo);
	return err;
}

void mapping_pieces_close(struct mapping_pieces *pieces)
{
	for (size_t i = 0; i < MAPPING_UNDO; i++)
		free(pieces->undo[i].piece);
	free(pieces->piece);
	free(pieces->mapping);
	*pieces = (struct mapping_pieces){0};
}
