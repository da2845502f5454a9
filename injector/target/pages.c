/* SPDX-License-Identifier: MIT */
/* pages.c - see pages.h. */
#include "pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "hi_page.h"
#include "memory_copy.h"
#include "proc_file.h"

#define AT_ONCE 256u /* runs, or words */
/* During a scan no thread of the process can map or unmap memory: this takes some milliseconds. */
#define SCAN_BYTES (128ull << 20)

/* A word of /proc/PID/pagemap */
#define WORD_PRESENT (1ull << 63)
#define WORD_SWAPPED (1ull << 62)
#define WORD_FILE (1ull << 61) /* unchanged from its file, or shared memory */
#define WORD_ONCE (1ull << 56) /* mapped once; the shared page of zeros never counts as that */

/* linux/fs.h of Linux 6.7, which older headers lack. */
struct scan_run {
	uint64_t start, end, categories;
};
struct scan {
	uint64_t size, flags, start, end, walk_end, runs, run_count, max_pages;
	uint64_t inverted, all_of, any_of, returned;
};
#define SCAN_FILE (1u << 2)
#define SCAN_PRESENT (1u << 3)
#define SCAN_SWAPPED (1u << 4)
#define SCAN_ZERO (1u << 5) /* the kernel's shared zero page */
#define SCAN_HUGE (1u << 6)
#define SCAN _IOWR('f', 16, struct scan)

static bool can_scan(int fd)
{
	struct scan_run run;
	struct scan scan = {.size = sizeof(scan),
			    .runs = (uintptr_t)&run,
			    .run_count = 1,
			    .any_of = SCAN_PRESENT,
			    .returned = SCAN_PRESENT};
	return ioctl(fd, SCAN, &scan) >= 0;
}

void pages_open(struct pages *pages, pid_t pid, pid_t tid)
{
	*pages = (struct pages){.fd = -1};
	if (proc_open(pid, tid, "pagemap", O_RDONLY, &pages->fd))
		return;
	pages->can_scan = can_scan(pages->fd);
}

void pages_open_of(struct pages *pages, const struct memory *memory)
{
	if (memory->copy)
		*pages = (struct pages){.fd = -1, .copy = memory->copy};
	else
		pages_open(pages, memory->pid, memory->tid);
}

void pages_close(struct pages *pages)
{
	if (pages->fd >= 0)
		close(pages->fd);
	*pages = (struct pages){.fd = -1};
}

struct visit {
	page_run_visit *run;
	void *context;
	bool with_files;
};

/* Scans from *lo on, as far as one call gets, and advances *lo. -1: scanning is not possible. */
static int scan_some(int fd, remote_addr *lo, remote_addr hi, const struct visit *visit)
{
	struct scan_run run[AT_ONCE];
	const uint64_t unwanted = SCAN_ZERO | (visit->with_files ? 0 : SCAN_FILE);
	struct scan scan = {.size = sizeof(scan),
			    .start = *lo,
			    .end = hi - *lo < SCAN_BYTES ? hi : *lo + SCAN_BYTES,
			    .runs = (uintptr_t)run,
			    .run_count = AT_ONCE,
			    .inverted = unwanted,
			    .all_of = unwanted,
			    .any_of = SCAN_PRESENT | SCAN_SWAPPED,
			    .returned = SCAN_PRESENT | SCAN_SWAPPED | SCAN_FILE | SCAN_HUGE};
	const int count = ioctl(fd, SCAN, &scan);
	int err = 0;
	if (count < 0 || scan.walk_end <= *lo)
		return -1;
	for (int i = 0; i < count && !err; i++)
		err = visit->run(visit->context,
				 &(struct page_run){
					 .lo = run[i].start,
					 .hi = run[i].end,
					 .is_swapped = !(run[i].categories & SCAN_PRESENT),
					 .is_file = run[i].categories & SCAN_FILE,
					 .is_huge = run[i].categories & SCAN_HUGE,
				 });
	*lo = scan.walk_end;
	return err;
}

static uint64_t kind_of(uint64_t word)
{
	return word & (WORD_PRESENT | WORD_SWAPPED | WORD_FILE | WORD_ONCE);
}

static bool may_be_zeros(uint64_t word)
{
	return (word & (WORD_PRESENT | WORD_FILE | WORD_ONCE)) == WORD_PRESENT;
}

static bool is_wanted(uint64_t word, bool with_files)
{
	return word & (WORD_PRESENT | WORD_SWAPPED) && (with_files || !(word & WORD_FILE));
}

static int read_some(int fd, remote_addr *lo, remote_addr hi, const struct visit *visit)
{
	uint64_t word[AT_ONCE];
	const uint64_t left = (hi - *lo) / hi_page_bytes(), pages = left < AT_ONCE ? left : AT_ONCE;
	const remote_addr at = *lo;
	const ssize_t want = (ssize_t)(pages * sizeof(word[0]));
	int err = 0;
	*lo += pages * hi_page_bytes();
	if (fd < 0 ||
	    pread(fd, word, (size_t)want, (off_t)(at / hi_page_bytes() * sizeof(word[0]))) != want)
		return visit->run(visit->context, &(struct page_run){.lo = at, .hi = *lo});
	for (uint64_t begin = 0, end; begin < pages && !err; begin = end) {
		end = begin + 1;
		while (end < pages && kind_of(word[end]) == kind_of(word[begin]))
			end++;
		if (is_wanted(word[begin], visit->with_files))
			err = visit->run(visit->context,
					 &(struct page_run){
						 .lo = at + begin * hi_page_bytes(),
						 .hi = at + end * hi_page_bytes(),
						 .is_swapped = !(word[begin] & WORD_PRESENT),
						 .is_file = word[begin] & WORD_FILE,
						 .may_be_zeros = may_be_zeros(word[begin]),
					 });
	}
	return err;
}

static int visit_copy(const struct memory_copy *copy, remote_addr lo, remote_addr hi,
		      const struct visit *visit)
{
	const struct copied_run *run = memory_copy_find(copy, lo);
	int err = 0;

	for (; run && run < copy->run + copy->count && run->lo < hi && !err; run++)
		if (visit->with_files || !run->is_file)
			err = visit->run(visit->context, &(struct page_run){
								 .lo = run->lo < lo ? lo : run->lo,
								 .hi = run->hi > hi ? hi : run->hi,
								 .is_swapped = run->is_swapped,
								 .is_file = run->is_file,
								 .is_huge = run->is_huge,
							 });
	return err;
}

int pages_visit(struct pages *pages, remote_addr lo, remote_addr hi, bool with_files,
		page_run_visit *run, void *context)
{
	const struct visit visit = {.run = run, .context = context, .with_files = with_files};
	bool scans = pages->can_scan;
	int err = 0;
	if (pages->copy)
		return visit_copy(pages->copy, lo, hi, &visit);
	while (lo < hi && !err) {
		err = scans ? scan_some(pages->fd, &lo, hi, &visit)
			    : read_some(pages->fd, &lo, hi, &visit);
		/* the mapping is gone, or is of a kind that cannot be scanned */
		if (scans && err == -1)
			scans = false, err = 0;
	}
	return err;
}

struct walk {
	int (*visit)(void *context, remote_addr at, uint64_t size);
	void *context;
	uint64_t swapped;
};

static int walk_run(void *context, const struct page_run *run)
{
	struct walk *walk = context;

	if (!run->is_swapped)
		return walk->visit(walk->context, run->lo, run->hi - run->lo);
	walk->swapped += run->hi - run->lo;
	return 0;
}

int pages_walk(struct pages *pages, remote_addr lo, remote_addr hi, bool with_files,
	       int (*visit)(void *context, remote_addr at, uint64_t size), void *context)
{
	struct walk walk = {.visit = visit, .context = context};
	const int err = pages_visit(pages, lo, hi, with_files, walk_run, &walk);

	pages->swapped += walk.swapped;
	return err;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reading {
	const struct memory *memory;
	struct pages_range *range;
	remote_addr done_hi; /* all bytes below are set */
};

static void clear_up_to(struct reading *reading, remote_addr hi)
{
	struct pages_range *range = reading->range;

	if (reading->done_hi < hi)
		memset(range->byte + (reading->done_hi - range->lo), 0, hi - reading->done_hi);
	reading->done_hi = hi;
}

#define IS_DONE 1 /* ends the walk: from here on nothing is known */

static int read_run(void *context, const struct page_run *run)
{
	struct reading *reading = context;
	struct pages_range *range = reading->range;
	const remote_addr hi = range->lo + range->size;
	const remote_addr begin = run->lo > range->lo ? run->lo : range->lo;
	const remote_addr end = run->hi < hi ? run->hi : hi;
	int err = -EFAULT;

	if (begin >= end)
		return 0;
	clear_up_to(reading, begin);
	if (!run->is_swapped)
		err = memory_read_much(reading->memory, begin, range->byte + (begin - range->lo),
				       end - begin);
	if (!err)
		reading->done_hi = end;
	if (err != -EFAULT)
		return err;
	clear_up_to(reading, end);
	range->known_hi = begin < range->known_hi ? begin : range->known_hi;
	return range->is_all ? 0 : IS_DONE;
}

int pages_read(struct pages *pages, const struct memory *memory, struct pages_range *range)
{
	struct reading reading = {memory, range, range->lo};
	const remote_addr hi = range->lo + range->size;
	const remote_addr first = range->lo / hi_page_bytes() * hi_page_bytes();
	const remote_addr last = (hi + hi_page_bytes() - 1) / hi_page_bytes() * hi_page_bytes();

	range->known_hi = hi;
	const int err = pages_visit(pages, first, last, true, read_run, &reading);
	clear_up_to(&reading, hi);
	return err == IS_DONE ? 0 : err;
}
