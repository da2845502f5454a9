/* SPDX-License-Identifier: MIT */
/*
 * mapping_pieces.h - the address space of the sampled mappings that is still mapped: what is left
 * of a mapping when parts of it were unmapped, or replaced by other mappings.
 *
 * A call that unmaps can fail after it was recorded, so what it took off can be put back. Knows no
 * profile: a mapping has the number of its row. Zero-initialized = empty.
 */
#ifndef HI_MAPPING_PIECES_H
#define HI_MAPPING_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* twice as many as a process may have mappings by default; a stream can claim anything */
#define MAPPING_PIECES_MAX (1u << 17)
/* how many of the last calls can be undone: one that fails is undone while its thread is in it */
#define MAPPING_UNDO 64u

struct mapping_piece {
	uint64_t lo, hi;
	uint32_t mapping; /* index into mapping[] */
};
struct mapping_sample {
	uint64_t born_ns;
	uint32_t row;
	uint32_t pieces; /* 0 = gone */
	uint32_t
		undos; /* parts of it that could be put back; with this and pieces 0 it is unused */
	uint32_t next_unused;
};
/* What a thread took off last. */
struct mapping_undo {
	uint32_t thread;
	uint64_t lo;
	struct mapping_piece *piece;
	size_t count, capacity;
};
struct mapping_pieces {
	struct mapping_piece *piece; /* by address; they do not overlap */
	size_t count, capacity;
	struct mapping_sample *mapping;
	size_t mapping_count, mapping_capacity;
	uint32_t unused; /* index + 1 of the first of a list; 0 = none */
	struct mapping_undo undo[MAPPING_UNDO];
	size_t undo_next;
};

/* A part of a mapping that has gone or is there again. */
struct mapping_part {
	uint32_t row;
	uint64_t bytes, born_ns;
	bool is_last; /* nothing else of the mapping is left */
};
typedef void mapping_visit(void *context, const struct mapping_part *part);

/* All of them: 0, -ENOMEM, or -E2BIG: there are too many pieces, and nothing was changed. */
/* A mapping now lies in [lo, hi), where nothing may be. */
int mapping_pieces_add(struct mapping_pieces *pieces, uint64_t lo, uint64_t hi, uint32_t row,
		       uint64_t born_ns);
/* Removes what lies in [lo, hi). visit is called for each part of a mapping there. */
int mapping_pieces_cut(struct mapping_pieces *pieces, uint64_t lo, uint64_t hi,
		       mapping_visit *visit, void *context);
/* The same, and remembers it as what the thread took off last. */
int mapping_pieces_take_off(struct mapping_pieces *pieces, uint32_t thread, uint64_t lo,
			    uint64_t hi, mapping_visit *visit, void *context);
/* Puts back what the thread took off last, if that was from `lo` on. */
int mapping_pieces_put_back(struct mapping_pieces *pieces, uint32_t thread, uint64_t lo,
			    mapping_visit *visit, void *context);
void mapping_pieces_close(struct mapping_pieces *pieces);

#endif
