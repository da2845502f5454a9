/* SPDX-License-Identifier: MIT */
/* mapped_test.c - address space by kind, from lines as the kernel writes them. */
#include "mapped.h"

#include "unit.h"

#define K UINT64_C(1024)
#define M (1024 * K)

static const char maps[] =
	"555555554000-555555556000 r-xp 00000000 fe:00 1234    /usr/bin/server\n"
	"555555556000-555555557000 rw-p 00002000 fe:00 1234    /usr/bin/server\n"
	"555555600000-555555700000 rw-p 00000000 00:00 0       [heap]\n"
	"7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n"
	"7f0001000000-7f0001200000 rw-s 00000000 00:05 77      /dev/zero (deleted)\n"
	"7f0001200000-7f0001300000 rw-s 00000000 00:05 78      /memfd:heapinject (deleted)\n"
	"7f0002000000-7f0002001000 ---p 00000000 00:00 0 \n"
	"7f0002001000-7f0002801000 rw-p 00000000 00:00 0 \n"
	"7f0003000000-7f0003021000 rw-p 00000000 00:00 0 \n"
	"7f0003021000-7f0007000000 ---p 00000000 00:00 0 \n"
	"7f0007000000-7f0007100000 rw-p 00000000 00:00 0 \n"
	"not a line of a maps file\n"
	"7f0008000000-7f0008100000 rw-p 00000000 00:00 0       [anon:arena]\n"
	"7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0       [stack]\n"
	"7ffff7fc9000-7ffff7fcd000 r--p 00000000 00:00 0       [vvar]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

UNIT_TEST(mappings_are_counted_by_kind)
{
	const struct mapped mapped = mapped_of(maps);

	CHECK_EQ(mapped.bytes[MAPPED_FILE], 3 * 4 * K);
	CHECK_EQ(mapped.bytes[MAPPED_BRK], M);
	/* a reservation above an arena is no guard; one of 64 MB below a mapping is none either */
	CHECK_EQ(mapped.bytes[MAPPED_ANONYMOUS], 4 * M + 132 * K + M + M);
	CHECK_EQ(mapped.bytes[MAPPED_SHARED], 2 * M); /* without what heapinject maps */
	CHECK_EQ(mapped.bytes[MAPPED_STACK], 8 * M + 132 * K);
}

/* As those of mozjemalloc and PartitionAlloc. */
UNIT_TEST(a_chunk_with_a_guard_is_no_stack)
{
	struct mapped mapped = mapped_of("7f0000100000-7f0000102000 rw-p 00000000 00:00 0 \n"
					 "7f0000102000-7f0000103000 ---p 00000000 00:00 0 \n"
					 "7f0000103000-7f00001ff000 rw-p 00000000 00:00 0 \n");

	CHECK_EQ(mapped.bytes[MAPPED_STACK], 0);
	CHECK_EQ(mapped.bytes[MAPPED_ANONYMOUS], 8 * K + 1008 * K);
	mapped = mapped_of("7dcc01404000-7dcc015fc000 rw-p 00000000 00:00 0 \n"
			   "7dcc015fc000-7dcc01604000 ---p 00000000 00:00 0 \n"
			   "7dcc01604000-7dcc017fc000 rw-p 00000000 00:00 0 \n");
	CHECK_EQ(mapped.bytes[MAPPED_STACK], 0);
	CHECK_EQ(mapped.bytes[MAPPED_ANONYMOUS], 2 * 2016 * K);
	/* a stack below another one */
	mapped = mapped_of("7f0000101000-7f0000901000 rw-p 00000000 00:00 0 \n"
			   "7f0000901000-7f0000902000 ---p 00000000 00:00 0 \n"
			   "7f0000902000-7f0001102000 rw-p 00000000 00:00 0 \n");
	CHECK_EQ(mapped.bytes[MAPPED_STACK], 8 * M);
}

/* An allocator may have guard pages, too. */
UNIT_TEST(stacks_explain_growth_only_if_as_many_threads_have_come)
{
	struct mapped begin = mapped_of(maps), end = begin;

	CHECK_EQ(begin.stacks, 2);
	end.bytes[MAPPED_STACK] += 40 * M;
	CHECK_EQ(mapped_grown(&begin, &end, 40.0 * (double)M, 0.5), MAPPED_STACK);
	end.stacks += 5;
	CHECK_EQ(mapped_grown(&begin, &end, 40.0 * (double)M, 0.5), MAPPED_ANONYMOUS);
	CHECK(mapped_more(&begin, &end, MAPPED_ANONYMOUS) == 40.0 * (double)M);
	CHECK(mapped_more(&begin, &end, MAPPED_STACK) == 0);
	begin.threads = 3;
	end.threads = 7;
	CHECK_EQ(mapped_grown(&begin, &end, 40.0 * (double)M, 0.5), MAPPED_ANONYMOUS);
	end.threads = 8;
	CHECK_EQ(mapped_grown(&begin, &end, 40.0 * (double)M, 0.5), MAPPED_STACK);
	mapped_look(&end, "");
	CHECK_EQ(end.threads, 8);
	CHECK_EQ(end.stacks, 0);
}

UNIT_TEST(the_kind_that_grew_is_the_one_that_explains_the_growth)
{
	const struct mapped begin = mapped_of(maps), nothing = mapped_of("");
	struct mapped end = begin;

	end.bytes[MAPPED_STACK] += 40 * M;
	end.bytes[MAPPED_FILE] += 60 * M;
	CHECK_EQ(mapped_grown(&begin, &end, 100.0 * (double)M, 0.5), MAPPED_FILE);
	CHECK_EQ(mapped_grown(&begin, &end, 100.0 * (double)M, 0.7), MAPPED_KINDS);
	CHECK_EQ(mapped_grown(&end, &begin, 100.0 * (double)M, 0.5), MAPPED_KINDS);
	CHECK_EQ(mapped_grown(&nothing, &end, 100.0 * (double)M, 0.5), MAPPED_KINDS);
	CHECK_EQ(mapped_grown(&begin, &begin, 0, 0.5), MAPPED_KINDS);
	CHECK_STR(mapped_name(MAPPED_FILE), "mapped files");
	CHECK_STR(mapped_name(MAPPED_KINDS), "");
}

UNIT_TEST(a_text_without_a_last_newline_is_read)
{
	CHECK_EQ(mapped_of("1000-3000 rw-p 00000000 00:00 0 [heap]").bytes[MAPPED_BRK], 8 * K);
	CHECK_EQ(mapped_of("1000-3000").bytes[MAPPED_ANONYMOUS], 0);
	CHECK_EQ(mapped_of(NULL).bytes[MAPPED_BRK], 0);
}

UNIT_MAIN()
