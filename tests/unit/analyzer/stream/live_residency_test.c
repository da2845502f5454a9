/* SPDX-License-Identifier: MIT */
/*
 * live_residency_test.c - blocks on pages of which a file says what /proc/PID/pagemap would say,
 * and blocks of this process by its own.
 */
#include "live_residency.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define PAGE HI_PAGE_BYTES
#define BASE (1000 * PAGE)
#define PRESENT (1ull << 63)
#define SWAPPED (1ull << 62)
#define ROWS 2u
#define THREADS 2u

static struct profile profile;
static struct live live;
static int pagemap;

/* Part 0 and 1 are of row 0, part 2 of row 1. */
static void begin(void)
{
	static const struct {
		uint32_t row, thread;
	} parts[] = {{0, 0}, {0, 1}, {1, 0}};
	uint32_t frame, stack, row, part;

	CHECK_EQ(profile_open(&profile), 0);
	for (uint32_t i = 0; i < ROWS; i++) {
		CHECK_EQ(profile_frame_at(&profile, 0x400000 + i, -1, &frame), 0);
		CHECK_EQ(profile_stack_of(&profile, &frame, 1, 0, &stack), 0);
		CHECK_EQ(profile_row_at(&profile,
					&(struct profile_row_key){.stack = stack, .interval = 1},
					&row),
			 0);
		CHECK_EQ(row, i);
	}
	for (uint32_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		CHECK_EQ(thread_breakdown_of(&profile.breakdown, parts[i].row, parts[i].thread,
					     &part),
			 0);
		CHECK_EQ(part, i);
	}
	live = (struct live){0};
	pagemap = memfd_create("pagemap", MFD_CLOEXEC);
	CHECK(pagemap >= 0);
}

static void end(void)
{
	live_close(&live);
	profile_close(&profile);
	close(pagemap);
}

static void add(uint64_t address, uint64_t bytes, uint32_t part)
{
	struct live_block *place = live_place(&live, address);

	CHECK(place && !place->address);
	*place = (struct live_block){.address = address, .bytes = bytes, .part = part};
	live.count++;
}

/* What the file says of pages from this one on. The rest of it is as of pages never touched. */
static void put_pages(uint64_t page, uint64_t count, uint64_t word)
{
	for (uint64_t i = 0; i < count; i++)
		CHECK_EQ(pwrite(pagemap, &word, sizeof(word), (off_t)((page + i) * sizeof(word))),
			 (ssize_t)sizeof(word));
}

static void put_end(uint64_t page)
{
	CHECK_EQ(ftruncate(pagemap, (off_t)(page * sizeof(uint64_t))), 0);
}

static void check_part(uint32_t part, uint64_t resident, uint64_t swapped)
{
	CHECK_EQ(profile.breakdown.part[part].resident_bytes, resident);
	CHECK_EQ(profile.breakdown.part[part].swapped_bytes, swapped);
}

static void check_row(uint32_t row, uint64_t resident, uint64_t swapped)
{
	CHECK_EQ(profile.row[row].resident_bytes, resident);
	CHECK_EQ(profile.row[row].swapped_bytes, swapped);
}

UNIT_TEST(each_block_has_its_bytes_of_its_pages)
{
	begin();
	add(BASE + PAGE - 16, 32, 0);      /* 16 bytes on either page */
	add(BASE + 100, 200, 1);           /* shares the first page with it */
	add(BASE + 2 * PAGE, 3 * PAGE, 2); /* whole pages: one there, one out, one never */
	add(BASE + 5 * PAGE + 8, PAGE, 2); /* from within a page that is out into one that is in */
	add(BASE + 900 * PAGE, 64, 0);     /* far away */
	add(BASE + 901 * PAGE, 0, 0);      /* of no bytes */
	put_end(BASE / PAGE + 2000);
	put_pages(BASE / PAGE, 1, PRESENT);
	put_pages(BASE / PAGE + 2, 1, PRESENT | 1);
	put_pages(BASE / PAGE + 3, 1, SWAPPED);
	put_pages(BASE / PAGE + 5, 1, SWAPPED);
	put_pages(BASE / PAGE + 6, 1, PRESENT);
	put_pages(BASE / PAGE + 900, 2, PRESENT);
	live_residency_measure(&live, pagemap, &profile);
	CHECK_EQ(profile.meta.residency, PROFILE_RESIDENCY_KNOWN);
	check_part(0, 16 + 64, 0);
	check_part(1, 200, 0);
	check_part(2, PAGE + 8, PAGE + PAGE - 8);
	check_row(0, 16 + 64 + 200, 0);
	check_row(1, PAGE + 8, PAGE + PAGE - 8);
	end();
}

/* Longer than what is read at once, and one that ends where the next begins. */
UNIT_TEST(large_blocks_are_read_in_pieces)
{
	const uint64_t pages = 100000;

	begin();
	add(BASE + 8, (pages - 1) * PAGE, 0);
	add(BASE + (pages - 1) * PAGE + 8, 2 * PAGE, 2);
	put_end(BASE / PAGE + pages + 100);
	put_pages(BASE / PAGE, 1, PRESENT);
	put_pages(BASE / PAGE + 32767, 2, PRESENT);
	put_pages(BASE / PAGE + 65536, 1, SWAPPED);
	put_pages(BASE / PAGE + pages - 1, 1, PRESENT);
	live_residency_measure(&live, pagemap, &profile);
	check_part(0, PAGE - 8 + 2 * PAGE + 8, PAGE);
	check_part(2, PAGE - 8, 0);
	/* what was measured before is forgotten */
	put_pages(BASE / PAGE + 32767, 2, 0);
	live_residency_measure(&live, pagemap, &profile);
	check_row(0, PAGE, PAGE);
	end();
}

/* Each has a page of its own, in no order and over all of a process's addresses. */
UNIT_TEST(many_blocks_are_each_counted_once)
{
	const uint64_t pages = 1ull << 35;
	uint64_t resident = 0, page = 1;

	begin();
	put_end(pages + 100);
	for (uint64_t i = 0; i < 2000; i++) {
		page = (page * 2862933555777941757u + 3037000493u) % pages + 1;
		add(page * PAGE + 16, 1 + i, (uint32_t)(i % 3));
		put_pages(page, 1, i % 3 == 2 ? SWAPPED : i % 3 ? PRESENT : 0);
		resident += i % 3 == 1 ? 1 + i : 0;
	}
	live_residency_measure(&live, pagemap, &profile);
	CHECK_EQ(profile.meta.residency, PROFILE_RESIDENCY_KNOWN);
	check_part(0, 0, 0);
	check_part(1, resident, 0);
	check_row(0, resident, 0);
	CHECK_EQ(profile.row[1].resident_bytes, 0);
	CHECK_EQ(profile.row[1].swapped_bytes, 2000ull * 2001 / 2 - resident - 667ull * 1000);
	end();
}

static void check_unknown(int fd, enum profile_residency why)
{
	profile.row[0].resident_bytes = profile.breakdown.part[0].swapped_bytes = 7;
	live_residency_measure(&live, fd, &profile);
	CHECK_EQ(profile.meta.residency, why);
	check_part(0, 0, 0);
	check_row(0, 0, 0);
}

UNIT_TEST(what_cannot_be_known_is_said)
{
	int pair[2];

	begin();
	add(BASE, PAGE, 0);
	add(BASE + 90 * PAGE, 2 * PAGE, 0);
	live_residency_measure(&live, 0, &profile); /* nobody wants to know */
	CHECK_EQ(profile.meta.residency, PROFILE_RESIDENCY_UNKNOWN);
	check_unknown(-1, PROFILE_RESIDENCY_REFUSED);
	CHECK_EQ(pipe(pair), 0); /* cannot be read from a place */
	check_unknown(pair[0], PROFILE_RESIDENCY_REFUSED);
	check_unknown(pagemap, PROFILE_RESIDENCY_GONE); /* as of a process that has ended */
	put_pages(BASE / PAGE, 91, PRESENT);            /* ended in between */
	check_unknown(pagemap, PROFILE_RESIDENCY_GONE);
	put_pages(BASE / PAGE, 92, PRESENT);
	live_residency_measure(&live, pagemap, &profile);
	CHECK_EQ(profile.meta.residency, PROFILE_RESIDENCY_KNOWN);
	check_row(0, 3 * PAGE, 0);
	put_end(BASE / PAGE + 100000);
	add(BASE + 100 * PAGE, (uint64_t)PAGE << 28, 1); /* as a stream may claim */
	check_unknown(pagemap, PROFILE_RESIDENCY_TOO_FAR);
	close(pair[0]);
	close(pair[1]);
	end();
}

UNIT_TEST(a_process_without_blocks_may_have_ended)
{
	begin();
	check_unknown(pagemap, PROFILE_RESIDENCY_GONE);
	put_end(1);
	live_residency_measure(&live, pagemap, &profile);
	CHECK_EQ(profile.meta.residency, PROFILE_RESIDENCY_KNOWN);
	end();
}

UNIT_TEST(of_this_process)
{
	const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	char *at =
		mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(fd >= 0 && at != MAP_FAILED);
	CHECK_EQ(madvise(at, 64 * PAGE, MADV_NOHUGEPAGE), 0);
	begin();
	for (int i = 0; i < 10; i++)
		at[(20 + i) * PAGE] = 1;
	CHECK_EQ(madvise(at + 25 * PAGE, PAGE, MADV_DONTNEED), 0);
	add((uintptr_t)at, 25 * PAGE, 0);
	add((uintptr_t)at + 25 * PAGE, 39 * PAGE, 2);
	live_residency_measure(&live, fd, &profile);
	CHECK_EQ(profile.meta.residency, PROFILE_RESIDENCY_KNOWN);
	CHECK_EQ(profile.row[0].resident_bytes + profile.row[0].swapped_bytes, 5 * PAGE);
	CHECK_EQ(profile.row[1].resident_bytes + profile.row[1].swapped_bytes, 4 * PAGE);
	end();
	munmap(at, 64 * PAGE);
	close(fd);
}

UNIT_MAIN()
