/* SPDX-License-Identifier: MIT */
/*
 * references.h - which block of a running process refers to which, and what else refers to them:
 * global variables, stacks, other memory. A graph by conservative scan (block_index.h): a number
 * that looks like the address of a block is a pointer to it.
 *
 * Nodes are, by number: places that refer to blocks; the blocks, by address; objects (the program
 * and its libraries), which have the places in their data; what refers to the blocks to which
 * nothing else does; and, last, the root, which has all that is no block.
 *
 * Ranks: what variables and other data lead to is theirs, even if a stack refers to it, too, as
 * pointers on stacks are mostly there for a while, and may be left from before. What stacks lead to
 * is theirs before it is another mapping's. And what nothing refers to keeps nothing of all that.
 *
 * The process runs on meanwhile: a pointer that moves while the memory is read may be missed, and
 * blocks that are new are not there.
 */
#ifndef HI_REFERENCES_H
#define HI_REFERENCES_H

#include "data_places.h"
#include "graph.h"
#include "inspected.h"
#include "used_blocks.h"

#define REFERENCES_ROOTS_MAX (256u << 10)

enum reference_kind {
	REFERENCE_VARIABLE, /* of an object, with a symbol */
	REFERENCE_DATA,     /* words in a row of an object's data without one */
	REFERENCE_STACK,    /* of a thread, with its thread-local storage if that is there */
	REFERENCE_MAPPING,
	REFERENCE_REST, /* there are more than REFERENCES_ROOTS_MAX: all others */
	REFERENCE_OBJECT,
	REFERENCE_NOTHING, /* to these blocks nothing refers: see graph_find_leaders() */
	REFERENCE_ALL
};

/* What is no block. */
struct reference_root {
	enum reference_kind kind;
	remote_addr lo, hi;
	const struct data_segment *segment; /* of a variable, of data */
	const struct elf_image *image;      /* of these, and of an object */
	const char *name;                   /* of a variable: its symbol; of a mapping: its path */
	pid_t tid;                          /* of a stack */
	char thread[32];                    /* the name of that one */
};

struct references {
	struct graph graph;
	struct reference_root *root;
	uint32_t root_count, places; /* so many of them are before the blocks */
	uint32_t pointers;           /* of the edges: words that refer to blocks */
	size_t root_room;
	const struct mark_block *block; /* the caller's */
	uint32_t block_count;
	uint32_t nothing, all; /* the nodes */
	struct maps maps;
	struct data_places data;
	bool is_of_copy; /* of one moment (memory_copy.h), with registers */
	bool is_late;    /* not all blocks were scanned within the time */
};

/*
 * blocks: have to outlive the references, as the images of inspected have to. 0, -E2BIG, -ENOMEM,
 * or an error of the memory. Close it in either case.
 */
must_check int references_find(struct inspected *inspected, const struct used_blocks *blocks,
			       struct references *out_references);
void references_close(struct references *references);
/* NULL: it is a block. */
const struct reference_root *references_root(const struct references *references, uint32_t node);
/* NULL: it is none. */
const struct mark_block *references_block(const struct references *references, uint32_t node);
/* Not all pointers were followed. */
static inline bool references_are_cut(const struct references *references)
{
	return references->graph.is_cut || references->is_late;
}
/* The node of a block, by its index. */
static inline uint32_t references_node(const struct references *references, uint32_t block)
{
	return references->places + block;
}

#endif
