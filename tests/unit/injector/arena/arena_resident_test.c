/* SPDX-License-Identifier: MIT */
/* arena_resident: what of an arena is in memory, in whatever way the kernel lets that be read. */
#include "arena_resident.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "procfs.h"
#include "unit.h"

#define PAGE 4096ull
#define PRIVATE (64 * PAGE)
#define SHARED (16 * PAGE)

/* Like an arena: one range, shared pages of a file below private ones without. */
static char *map_like_an_arena(void)
{
	const int fd = memfd_create("shared", MFD_CLOEXEC);
	char *at = mmap(NULL, SHARED + PRIVATE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(fd >= 0 && at != MAP_FAILED);
	CHECK_EQ(ftruncate(fd, SHARED), 0);
	CHECK_EQ(madvise(at, SHARED + PRIVATE, MADV_NOHUGEPAGE), 0);
	CHECK(mmap(at, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == at);
	close(fd);
	return at;
}

static struct arena_resident resident_of(const char *at, bool scans)
{
	struct arena_resident resident;
	struct pages pages;

	pages_open(&pages, getpid(), getpid());
	pages.can_scan &= scans;
	arena_resident_read(&pages, (uintptr_t)at, (uintptr_t)at + SHARED + PRIVATE, &resident);
	pages_close(&pages);
	return resident;
}

static void check(const char *at, uint64_t private_pages, uint64_t shared_pages)
{
	for (int scans = 0; scans < 2; scans++) {
		const struct arena_resident resident = resident_of(at, scans);

		CHECK_EQ(resident.anonymous, private_pages * PAGE);
		CHECK_EQ(resident.resident, (private_pages + shared_pages) * PAGE);
	}
}

UNIT_TEST(pages_count_from_when_they_are_written_to)
{
	char *at = map_like_an_arena();

	check(at, 0, 0);
	at[0] = at[9 * PAGE] = 1;
	check(at, 0, 2);
	at[SHARED] = at[SHARED + 7 * PAGE] = at[SHARED + PRIVATE - 1] = 1;
	check(at, 3, 2);
	munmap(at, SHARED + PRIVATE);
}

/*
 * The payload reads tables that are empty. Most kernels count that for nobody; some give each page
 * that is read memory of its own.
 */
UNIT_TEST(pages_that_are_only_read_count_as_in_the_status_of_the_process)
{
	char *at = map_like_an_arena();
	struct proc_status before, after;
	int sum = 0;

	at[SHARED] = 1;
	CHECK_EQ(proc_status_read(getpid(), getpid(), &before), 0);
	for (uint64_t page = 0; page < PRIVATE / PAGE; page++)
		sum += ((volatile char *)at)[SHARED + page * PAGE];
	CHECK_EQ(proc_status_read(getpid(), getpid(), &after), 0);
	CHECK_EQ(sum, 1);
	const bool is_counted = after.anonymous_bytes >= before.anonymous_bytes + PRIVATE / 2;
	check(at, is_counted ? PRIVATE / PAGE : 1, 0);
	munmap(at, SHARED + PRIVATE);
}

UNIT_TEST(where_pages_cannot_be_read_nothing_counts)
{
	struct arena_resident resident = {1, 1};
	struct pages pages = {.fd = -1};
	char *at = map_like_an_arena();

	at[SHARED] = 1;
	arena_resident_read(&pages, (uintptr_t)at, (uintptr_t)at + SHARED + PRIVATE, &resident);
	CHECK_EQ(resident.anonymous, 0);
	CHECK_EQ(resident.resident, 0);
	munmap(at, SHARED + PRIVATE);
}

UNIT_MAIN()
