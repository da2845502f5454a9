/* SPDX-License-Identifier: MIT */
/* smaps: the kernel's figures, each at its own mapping. */
#include "smaps.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define PAGE 4096ull

UNIT_TEST(fields_go_to_the_mapping_before_them)
{
	static const char text[] =
		"00400000-00402000 r-xp 00000000 08:01 123 /bin/some\n"
		"Size:                  8 kB\n"
		"Rss:                   4 kB\n"
		"Anonymous:             0 kB\n"
		"AnonHugePages:         0 kB\n"
		"Swap:                  0 kB\n"
		"VmFlags: rd ex mr mw me\n"
		"00300000-00401000 rw-p 00000000 00:00 0 \n" /* overlaps: left out, with its fields
							      */
		"Rss:                 999 kB\n"
		"7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n"
		"Rss:                2052 kB\n"
		"Anonymous:          2048 kB\n"
		"AnonHugePages:      2048 kB\n"
		"Swap:                 12 kB\n";
	struct smaps smaps;

	CHECK_EQ(smaps_parse(text, sizeof(text) - 1, &smaps), 0);
	CHECK_EQ(smaps.maps.count, 2);
	CHECK_EQ(smaps.of[0].resident, 4096);
	CHECK_EQ(smaps.of[0].anonymous, 0);
	CHECK_EQ(smaps.of[1].resident, 2052 * 1024);
	CHECK_EQ(smaps.of[1].anonymous, 2048 * 1024);
	CHECK_EQ(smaps.of[1].huge, 2048 * 1024);
	CHECK_EQ(smaps.of[1].swapped, 12 * 1024);
	smaps_close(&smaps);
}

UNIT_TEST(junk_has_no_mappings)
{
	static const char *const text[] = {"", "\n\n", "Rss: 12 kB\n", "12-", "abc-abd\nRss: 1 kB"};

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		struct smaps smaps;

		CHECK_EQ(smaps_parse(text[i], strlen(text[i]), &smaps), 0);
		CHECK_EQ(smaps.maps.count, 0);
		smaps_close(&smaps);
	}
}

UNIT_TEST(of_this_process)
{
	char *at = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct smaps smaps;

	CHECK(at != MAP_FAILED);
	memset(at, 1, 5 * PAGE);
	CHECK_EQ(smaps_read(getpid(), getpid(), &smaps), 0);
	const struct mapping *mapping = maps_find(&smaps.maps, (uintptr_t)at);
	CHECK(mapping != NULL);
	CHECK_EQ(smaps.of[mapping - smaps.maps.mapping].resident, 5 * PAGE);
	smaps_close(&smaps);
	munmap(at, 64 * PAGE);
}

UNIT_MAIN()
