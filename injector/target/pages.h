/* SPDX-License-Identifier: MIT */
/*
 * pages.h - which pages of the target hold data, so that memory that was only reserved need not be
 * read.
 *
 * Uses PAGEMAP_SCAN where the kernel has it (Linux 6.7): it skips untouched terabytes at once.
 * Otherwise reads /proc/PID/pagemap, one word per page. If neither works, every page counts as
 * holding data.
 */
#ifndef HI_PAGES_H
#define HI_PAGES_H

#include <stdbool.h>

#include "memory.h"

struct pages {
	int fd;                         /* -1: cannot be read */
	const struct memory_copy *copy; /* the pages that it has, and not the process's; or NULL */
	bool can_scan;
	/* bytes of wanted pages that walks skipped because they are swapped out */
	uint64_t swapped;
};

/* A run of whole pages of one kind. */
struct page_run {
	remote_addr lo, hi;
	bool is_swapped; /* then it is not in memory */
	bool is_file;    /* unchanged from its file, or shared */
	bool is_huge;    /* mapped as a huge page; only known where PAGEMAP_SCAN is */
	/*
	 * The kernel's shared page of zeros, which is in no count of the process's memory, or a
	 * page that a child or a parent has, too. Never set where PAGEMAP_SCAN is.
	 */
	bool may_be_zeros;
};

void pages_open(struct pages *pages, pid_t pid, pid_t tid);
/* Those of this memory: of its copy, if it has one. */
void pages_open_of(struct pages *pages, const struct memory *memory);
void pages_close(struct pages *pages);

/*
 * Calls visit, in order, for runs of pages in [lo, hi) that are in memory or swapped out. Pages of
 * one kind may come in several runs. The kernel's shared page of zeros is left out where
 * PAGEMAP_SCAN is; else it counts as a page of its own. with_files: also those that are unchanged
 * from their file, or shared. Stops at the first error of visit and returns it.
 */
typedef int page_run_visit(void *context, const struct page_run *run);
must_check int pages_visit(struct pages *pages, remote_addr lo, remote_addr hi, bool with_files,
			   page_run_visit *visit, void *context);

/*
 * The same, but visits only what is in memory. Swapped-out pages are counted but not visited: to
 * read one would bring it back into the target's memory.
 */
must_check int pages_walk(struct pages *pages, remote_addr lo, remote_addr hi, bool with_files,
			  int (*visit)(void *context, remote_addr at, uint64_t size),
			  void *context);

/*
 * Reads memory without touching a page that is not resident. What was never written to, or cannot
 * be read, is 0. known_hi: from there on nothing is known, as a page is swapped out or not mapped;
 * the end if all is known. What lies behind that is read, too, if is_all; else it is 0. Returns 0
 * or an error of the memory.
 */
struct pages_range {
	remote_addr lo;
	uint8_t *byte; /* the caller's */
	size_t size;
	bool is_all;
	remote_addr known_hi; /* set by the call */
};
must_check int pages_read(struct pages *pages, const struct memory *memory,
			  struct pages_range *range);

#endif
