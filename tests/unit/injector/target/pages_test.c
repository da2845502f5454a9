/* SPDX-License-Identifier: MIT */
/*
 * pages: what this process has written to, and only that, whatever way the kernel offers to find
 * out.
 */
#include "pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define PAGE 4096ull
#define FEW (64 * PAGE)

struct seen {
	remote_addr at[64];
	uint64_t size[64];
	unsigned count;
	int answer; /* to the second run */
};

static int see(void *context, remote_addr at, uint64_t size)
{
	struct seen *seen = context;
	CHECK(seen->count < 64);
	seen->at[seen->count] = at;
	seen->size[seen->count++] = size;
	return seen->count == 2 ? seen->answer : 0;
}

static struct seen walk(struct pages *pages, const char *lo, uint64_t size, bool with_files)
{
	struct seen seen = {.count = 0};
	CHECK_EQ(pages_walk(pages, (uintptr_t)lo, (uintptr_t)lo + size, with_files, see, &seen), 0);
	return seen;
}

static char *reserve(uint64_t size)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(at != MAP_FAILED);
	CHECK_EQ(madvise(at, size, MADV_NOHUGEPAGE), 0);
	return at;
}

static void check_runs(struct pages *pages)
{
	char *at = reserve(FEW);
	CHECK_EQ(walk(pages, at, FEW, false).count, 0);
	at[3 * PAGE] = at[4 * PAGE] = at[63 * PAGE] = 1;
	CHECK_EQ(at[10 * PAGE], 0); /* read, not written */
	const struct seen seen = walk(pages, at, FEW, false);
	CHECK(seen.count >= 2 && seen.at[0] == (uintptr_t)at + 3 * PAGE &&
	      seen.size[0] == 2 * PAGE);
	CHECK(seen.at[seen.count - 1] == (uintptr_t)at + 63 * PAGE &&
	      seen.size[seen.count - 1] == PAGE);
	munmap(at, FEW);
}

static void check_files(struct pages *pages)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *at = mmap(NULL, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	CHECK(at != MAP_FAILED);
	CHECK_EQ(mprotect(at, 4 * PAGE, PROT_READ | PROT_WRITE), 0);
	at[PAGE] = 1;
	const struct seen written = walk(pages, at, 4 * PAGE, false),
			  all = walk(pages, at, 4 * PAGE, true);
	CHECK(written.count == 1 && written.at[0] == (uintptr_t)at + PAGE &&
	      written.size[0] == PAGE);
	uint64_t size = 0;
	for (unsigned i = 0; i < all.count; i++)
		size += all.size[i];
	CHECK_EQ(size, 4 * PAGE);
	munmap(at, 4 * PAGE);
	close(fd);
}

UNIT_TEST(runs_of_written_pages_by_scan)
{
	struct pages pages;
	pages_open(&pages, getpid(), getpid());
	if (!pages.can_scan)
		SKIP("the kernel has no PAGEMAP_SCAN");
	check_runs(&pages);
	check_files(&pages);
	pages_close(&pages);
}

UNIT_TEST(runs_of_written_pages_by_words)
{
	struct pages pages;
	pages_open(&pages, getpid(), getpid());
	pages.can_scan = false;
	check_runs(&pages);
	check_files(&pages);
	pages_close(&pages);
}

UNIT_TEST(where_nothing_can_be_read_all_pages_count)
{
	struct pages pages = {.fd = -1};
	char *at = reserve(FEW);
	uint64_t size = 0;
	const struct seen seen = walk(&pages, at, FEW, false);
	for (unsigned i = 0; i < seen.count; i++)
		size += seen.size[i];
	CHECK_EQ(size, FEW);
}

UNIT_TEST(terabytes_that_are_only_reserved_take_no_time)
{
	struct pages pages;
	const uint64_t size = 16ull << 40;
	pages_open(&pages, getpid(), getpid());
	if (!pages.can_scan)
		SKIP("the kernel has no PAGEMAP_SCAN");
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		SKIP("no room for 16 TiB of addresses");
	at[size - PAGE] = 1;
	const struct seen seen = walk(&pages, at, size, false);
	CHECK_EQ(seen.count, 1);
	CHECK(seen.at[0] + seen.size[0] == (uintptr_t)at + size);
	pages_close(&pages);
}

/* No machine need have swap for this: the words are ours. */
UNIT_TEST(what_is_in_swap_is_counted_and_not_visited)
{
	const uint64_t present = 1ull << 63, swapped = 1ull << 62, at = 0x7f0000000000,
		       word[] = {present, swapped, swapped, 0, present, swapped};
	struct pages pages = {.fd = memfd_create("pagemap", MFD_CLOEXEC)};
	CHECK_EQ(pwrite(pages.fd, word, sizeof(word), (off_t)(at / PAGE * sizeof(word[0]))),
		 sizeof(word));
	const struct seen seen = walk(&pages, (const char *)(uintptr_t)at, 6 * PAGE, false);
	CHECK_EQ(seen.count, 2);
	CHECK(seen.at[0] == at && seen.size[0] == PAGE && seen.at[1] == at + 4 * PAGE &&
	      seen.size[1] == PAGE);
	CHECK_EQ(pages.swapped, 3 * PAGE);
	pages_close(&pages);
}

static int count(void *context, remote_addr at, uint64_t size)
{
	(void)at;
	*(uint64_t *)context += size / PAGE;
	return 0;
}

UNIT_TEST(more_runs_than_one_call_tells_of)
{
	enum { RUNS = 1000 };
	for (int scan = 0; scan < 2; scan++) {
		struct pages pages;
		char *at = reserve(2 * RUNS * PAGE);
		uint64_t written = 0;
		pages_open(&pages, getpid(), getpid());
		pages.can_scan &= scan;
		for (unsigned i = 0; i < RUNS; i++)
			at[2 * i * PAGE] = 1;
		CHECK_EQ(pages_walk(&pages, (uintptr_t)at, (uintptr_t)at + 2 * RUNS * PAGE, false,
				    count, &written),
			 0);
		CHECK_EQ(written, RUNS);
		pages_close(&pages);
	}
}

UNIT_TEST(an_error_of_the_visitor_ends_the_walk)
{
	for (int scan = 0; scan < 2; scan++) {
		struct pages pages;
		struct seen seen = {.answer = -77};
		char *at = reserve(FEW);
		pages_open(&pages, getpid(), getpid());
		pages.can_scan &= scan;
		at[0] = at[2 * PAGE] = at[4 * PAGE] = 1;
		CHECK_EQ(pages_walk(&pages, (uintptr_t)at, (uintptr_t)at + FEW, false, see, &seen),
			 -77);
		CHECK_EQ(seen.count, 2);
		pages_close(&pages);
	}
}

UNIT_MAIN()
