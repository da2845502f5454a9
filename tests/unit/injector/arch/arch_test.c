/* SPDX-License-Identifier: MIT */
/* arch_test.c - what is the same on every CPU. The rest is in the directories of the CPUs. */
#include "arch.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "unit.h"

UNIT_TEST(transfers_are_told_from_waits)
{
	const uint64_t plain[6] = {0}, all_or_nothing[6] = {0, 0, 0, MSG_WAITALL};

	CHECK(arch_is_transfer(SYS_write, plain));
	CHECK(arch_is_transfer(SYS_sendmsg, plain));
	CHECK(arch_is_transfer(SYS_recvfrom, all_or_nothing));
	CHECK(!arch_is_transfer(SYS_recvfrom, plain));
	CHECK(!arch_is_transfer(SYS_read, plain)); /* returns with what there is, or begins anew */
	CHECK(!arch_is_transfer(SYS_futex, plain));
	CHECK(!arch_is_transfer(-1, plain));
}

/*
 * Against the plain loop, with words that fit one of two patterns, both, or a part of one, at every
 * place of a run of every length.
 */
UNIT_TEST(patterns_are_found_wherever_they_stand)
{
	const struct arch_pattern pattern[2] = {{~0xfffull, 0x7f0012345000},
						{~(0xfffull << 17), 0xabcd0000dead}};
	const uint64_t fits[] = {0x7f0012345000, 0x7f0012345fff, 0xabcd0000dead, 0xabcd00a0dead},
		       misses[] = {0, 0x7f0012346000, 0x7e0012345000, 0xabcd0000deac, UINT64_MAX};
	uint64_t word[70];

	for (size_t count = 0; count <= 70; count++) {
		for (size_t at = 0; at < count; at++) {
			for (size_t i = 0; i < count; i++)
				word[i] = misses[(i + at) % 5];
			CHECK_EQ(arch_find_pattern(word, 0, count, pattern), count);
			word[at] = fits[at % 4];
			CHECK_EQ(arch_find_pattern(word, 0, count, pattern), at);
			CHECK_EQ(arch_find_pattern(word, at, count, pattern), at);
			CHECK_EQ(arch_find_pattern(word, at + 1, count, pattern), count);
		}
	}
}

UNIT_TEST(cycle_counter_counts)
{
	uint64_t start = arch_cycles();

	CHECK(arch_cycles_per_second() > 1000u * 1000);
	CHECK(arch_cycles() - start > arch_cycles_per_second() / 100);
}

/* What is not waited for is not slept through. */
UNIT_TEST(counter_that_was_calibrated_meanwhile_is_not_waited_for)
{
	struct rusage before, after;
	uint64_t start_ns = arch_moment_now().ns;

	arch_cycles_calibrate();
	while (arch_moment_now().ns - start_ns < 25000000)
		continue;
	CHECK_EQ(getrusage(RUSAGE_THREAD, &before), 0);
	CHECK(arch_cycles_per_second() > 1000u * 1000);
	CHECK_EQ(getrusage(RUSAGE_THREAD, &after), 0);
	CHECK_EQ(after.ru_nvcsw, before.ru_nvcsw);
}

UNIT_MAIN()
