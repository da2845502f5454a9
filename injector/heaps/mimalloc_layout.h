/* SPDX-License-Identifier: MIT */
/*
 * mimalloc_layout.h - where mimalloc has its memory, and how this build of it lays it out.
 *
 * Memory is in segments of 32 MB, at addresses that are multiples of that. A segment begins with
 * a table of its slices of 64 KB; some of them in a row are a page, which has blocks of one size.
 * Which heap or thread a segment is of does not matter: a segment has its own address in it, mixed
 * with a random number that the main heap has, too. The main heap is in the data of the object, and
 * is recognized by the sizes in its table of queues.
 *
 * Releases have their fields in different places. What is taken here is what agrees: the words of a
 * segment's head with each other, and the spans of slices with the number of all slices. Known from
 * mimalloc 2.0 to 2.2, 64-bit; the segments of 1.x and the pages of 3.x are others.
 */
#ifndef HI_MIMALLOC_LAYOUT_H
#define HI_MIMALLOC_LAYOUT_H

#include "heap.h"
#include "heap_bytes.h"

#define MIMALLOC_SLICE_BYTES 65536u
#define MIMALLOC_SEGMENT_BYTES (32u << 20)
#define MIMALLOC_SLICES_MAX 512u
#define MIMALLOC_SPAN_MAX (1u << 31) /* slices of the largest block */
#define MIMALLOC_HEAD_BYTES 512u     /* of a segment, before its table */
#define MIMALLOC_WORD 8u

/* Where the blocks of a page begin, in releases whose pages do not say it. */
enum mimalloc_start {
	MIMALLOC_START_384,     /* 2.0.7 to 2.0.9 */
	MIMALLOC_START_128,     /* up to 2.0.6 */
	MIMALLOC_START_OF_SIZE, /* 2.1.2: after three blocks, or one */
	MIMALLOC_STARTS
};

struct mimalloc_layout {
	uint64_t cookie;      /* a segment's word, mixed with its address */
	uint64_t main_thread; /* segments name their threads so */
	uint32_t cookie_at;   /* in a segment */
	uint32_t count_at;    /* its number of slices, then that of those with the table itself */
	uint32_t table_at;
	uint32_t slice_bytes; /* of an entry in the table */
	bool has_start;       /* pages say where their blocks begin; other fields moved, too */
	bool has_keys; /* pages have keys: links between free blocks may be mixed with them */
	enum mimalloc_start start; /* where they do not */
};

/* The head of a segment. */
struct mimalloc_head {
	uint64_t slices;      /* of all of it: more than the table has, for one large block */
	uint32_t info_slices; /* that have the table itself */
	uint32_t entries;     /* of the table */
	uint64_t used;        /* pages in use; 0: the segment is kept for later */
	uint64_t thread;      /* 0: its thread is gone */
	bool is_huge;
};

/* Words of main heaps: one of them is the cookie. */
struct mimalloc_main {
	struct mimalloc_word {
		uint64_t word;
		uint64_t thread; /* the word where then the main thread's name is */
	} * word;
	size_t count, room;
	bool was_used; /* a queue has pages */
	bool is_newer; /* the queues are those of mimalloc 3 */
};

/* 0, -ENOENT: there is none; -ENOMEM, or an error of the memory. Close it in either case. */
must_check int mimalloc_main_find(const struct heap_source *source, const struct elf_image *image,
				  struct mimalloc_main *out_main);
void mimalloc_main_close(struct mimalloc_main *main);

/*
 * Is there a segment in the bytes, which are MIMALLOC_HEAD_BYTES from `at` on? layout->cookie 0: of
 * any layout, whose cookie and places it then fills in, up to table_at.
 */
bool mimalloc_head_parse(const struct mimalloc_main *main, const uint8_t *byte, remote_addr at,
			 struct mimalloc_layout *layout, struct mimalloc_head *out_head);
#endif
