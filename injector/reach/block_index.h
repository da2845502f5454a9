/* SPDX-License-Identifier: MIT */
/*
 * block_index.h - which words are pointers to blocks of a heap, and to which: the conservative scan
 * that marking (mark.h) and graphs of references share.
 *
 * The rules are those that LeakSanitizer documents, by default: a word is a pointer if it lies at
 * an address that is a multiple of the word size and its value is the address of any byte of a
 * block, the first or an inner one. A pointer to the end of a block of one word counts, too: such
 * is what `new T[0]` returns where T has a destructor, after the word in which it counts the
 * elements. Bits of a word that the CPU ignores in pointers, where programs keep tags, do not
 * matter.
 *
 * Functions over numbers: the memory is behind struct mark_memory, and there need be no process.
 */
#ifndef HI_BLOCK_INDEX_H
#define HI_BLOCK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hi_wire.h"
#include "must_check.h"

#define MARK_WORD_BYTES 8u
#define MARK_BLOCKS_MAX UINT32_MAX

struct mark_block {
	uint64_t address, bytes;
};

/* Gets words of memory as they are from an address on, which is a multiple of their size. */
typedef void mark_visit(void *visitor, uint64_t at, const uint64_t *word, size_t count);
struct mark_memory {
	/*
	 * Visits the words in [lo, hi), in pieces of any size. Words that are not there, or that
	 * cannot hold a pointer, may be left out. lo is a multiple of the word size. An error ends
	 * the marking.
	 */
	int (*walk)(void *context, uint64_t lo, uint64_t hi, mark_visit *visit, void *visitor);
	void *context;
};
/* All whole words of a range, and of a block. An error is that of the memory. */
must_check int mark_memory_walk(const struct mark_memory *memory, uint64_t lo, uint64_t hi,
				mark_visit *visit, void *visitor);
must_check int mark_memory_walk_block(const struct mark_memory *memory,
				      const struct mark_block *block, mark_visit *visit,
				      void *visitor);

/*
 * What an allocator has left in a block that it had in its lists before, and the program did not
 * write over, is no pointer of the program's.
 */
struct mark_links {
	/* Of a word in a block, and the block to which it would be a pointer. */
	bool (*is_link)(void *context, const struct mark_block *block, uint64_t at, uint64_t word);
	void *context;
};

/* Zero-initialized = empty. */
struct block_index {
	const struct mark_block *block; /* the caller's */
	uint32_t count;
	/* The rest is private. */
	uint64_t lo, hi; /* of all blocks */
	/* Between regions is nothing for a long way, as between brk's heap and what mmap gave. */
	struct block_region {
		uint64_t lo, hi;
		size_t first; /* its first element in first[] */
	} * region;
	size_t regions;
	unsigned shift; /* of bytes, from one element of first[] to the next */
	uint32_t *first;
};

/*
 * block: sorted by address, each address once, none 0; has to outlive the index. Blocks that
 * overlap are allowed: a word refers to the last one that begins before it. 0, -E2BIG, -ENOMEM.
 */
must_check int block_index_open(struct block_index *index, const struct mark_block *block,
				size_t count);
void block_index_close(struct block_index *index);
/* The rest of block_index_find(), for a word without a tag. */
bool block_index_search(const struct block_index *index, uint64_t word, uint32_t *out_block);
/* The block to which the word is a pointer. False: it is none, as nearly all words are. */
static inline bool block_index_find(const struct block_index *index, uint64_t word,
				    uint32_t *out_block)
{
	const uint64_t at = hi_untagged(word);

	return at >= index->lo && at <= index->hi && index->count &&
	       block_index_search(index, at, out_block);
}
/* The same for a word that is in a block, at that address. links: NULL = no word is one. */
bool block_index_find_from_block(const struct block_index *index, const struct mark_links *links,
				 uint64_t at, uint64_t word, uint32_t *out_block);

#endif
