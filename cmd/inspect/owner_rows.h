/* SPDX-License-Identifier: MIT */
/*
 * owner_rows.h - the dominator tree of a process's blocks, small enough to be read: below each
 * place that retains blocks, these by class; below a class, what its blocks retain, by class; and
 * so on. Blocks that only blocks of their own class retain, as in lists and trees, are in one row.
 *
 * Rows of places have each block once: those of "several" have what no single place retains.
 */
#ifndef HI_OWNER_ROWS_H
#define HI_OWNER_ROWS_H

#include "owners.h"

#define OWNER_ROWS_DEPTH 6u
#define OWNER_ROW_HELD 3u

struct owner_row {
	unsigned depth;     /* 0: a place */
	uint32_t node;      /* of a place */
	uint32_t group;     /* of blocks of a class, below one */
	uint32_t count;     /* of these blocks; of a place: those that it has directly */
	uint64_t own;       /* their bytes */
	uint64_t bytes;     /* that they retain, with their own */
	uint32_t blocks;    /* the same */
	struct owner_held { /* of a place: what it retains, most first */
		uint32_t group, blocks;
		uint64_t bytes;
	} held[OWNER_ROW_HELD];
	unsigned held_count;
};

struct owner_rows {
	struct owner_row *row; /* each above those below it; places that retain most first */
	size_t count, room;
	size_t places; /* that there are, also beyond the rows */
};

/*
 * places: rows of that many at most; 0 = all. least: classes below them that retain less have no
 * row. 0 or -ENOMEM. Close it in either case.
 */
must_check int owner_rows_make(const struct owners *owners, size_t places, uint64_t least,
			       struct owner_rows *out_rows);
void owner_rows_close(struct owner_rows *rows);

#endif
