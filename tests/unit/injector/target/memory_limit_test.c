/* SPDX-License-Identifier: MIT */
/* memory_limit_test.c - of all limits of memory, the one that is reached first. */
#include "unit.h"

#include <limits.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "made_files.h"
#include "memory_limit.h"

#define MIB (1ull << 20)

static void check_cgroups(const char *text, uint64_t limit, uint64_t used)
{
	struct memory_limit nearest = {0};

	memory_limit_take_cgroups(made_root, text, &nearest);
	CHECK_EQ(nearest.limit, limit);
	CHECK_EQ(nearest.used, used);
}

UNIT_TEST(of_cgroups_above_each_other_the_nearest_counts)
{
	made_begin();
	made_put("a/memory.max", "1000\n");
	made_put("a/memory.current", "900\n");
	made_put("a/b/memory.max", "500\n");
	made_put("a/b/memory.current", "300\n");
	made_put("a/b/c/memory.max", "max\n");
	made_put("a/b/c/memory.current", "300\n");
	made_put("other/memory.max", "10\n");
	check_cgroups("0::/a/b/c\n", 1000, 900);
	check_cgroups("0::/a/b", 1000, 900);
	made_put("a/memory.current", "700\n");
	check_cgroups("0::/a/b/c\n", 500, 300);
	check_cgroups("0::/other\n", 10, 0);
	made_end();
}

/* In a namespace of its own a process sees its cgroup as the root. */
UNIT_TEST(the_root_of_a_namespace)
{
	made_begin();
	made_put("memory.max", "1000\n");
	made_put("memory.current", "100\n");
	check_cgroups("0::/\n", 1000, 100);
	made_end();
}

/* There, the kernel names what is outside by the way from the root of the namespace. */
UNIT_TEST(outside_of_the_namespace)
{
	struct memory_cgroup found;

	made_begin();
	made_put("pods/memory.max", "5000\n");
	made_put("pods/memory.current", "100\n");
	made_put("pods/burst/pod1/memory.max", "1000\n");
	made_put("pods/burst/pod1/memory.current", "400\n");
	made_put("pods/burst/pod1/app/memory.max", "max\n");
	made_put("pods/burst/pod2/app/memory.max", "500\n");
	made_put("pods/burst/pod2/app/memory.current", "300\n");
	made_put("system/redis/memory.max", "50\n");
	check_cgroups("0::/../../pod1/app\n", 1000, 400);
	check_cgroups("0::/../../pod2/app\n", 500, 300);
	check_cgroups("0::/../../pod1/app\n", 1000, 400);
	check_cgroups("0::/../../../../system/redis\n", 50, 0);
	check_cgroups("0::/../../pod3/app\n", 0, 0);
	check_cgroups("0::/..\n", 0, 0);
	check_cgroups("0::/..pods\n", 0, 0);
	memory_limit_find_cgroup(made_root, "0::/../../pod1/app\n", &found);
	CHECK(strstr(found.own, "/pods/burst/pod1/app"));
	CHECK(strstr(found.path, "/pods/burst/pod1") && found.nearest.limit == 1000);
	made_put("pods/burst/pod1/app/memory.max", "700\n");
	check_cgroups("0::/../../pod1/app\n", 1000, 400);
	made_put("pods/burst/pod1/app/memory.current", "300\n");
	check_cgroups("0::/../../pod1/app\n", 700, 300);
	made_end();
}

UNIT_TEST(cgroups_of_version_1)
{
	made_begin();
	made_put("memory/a/memory.limit_in_bytes", "2000\n");
	made_put("memory/a/memory.usage_in_bytes", "500\n");
	made_put("a/memory.max", "1000\n"); /* not its own */
	check_cgroups("12:cpu,cpuacct:/b\n11:hugetlb,memory:/a\n", 2000, 500);
	check_cgroups("11:memory:/a\n", 2000, 500);
	check_cgroups("11:memory,hugetlb:/a\n", 2000, 500);
	check_cgroups("11:memoryx:/a\n10:xmemory:/a\n9:name=memory:/a\n", 0, 0);
	/* no limit is the largest number of whole pages */
	made_put("memory/a/memory.limit_in_bytes", "9223372036854771712\n");
	check_cgroups("11:memory:/a\n", 0, 0);
	made_end();
}

UNIT_TEST(what_is_above_its_limit_has_no_room)
{
	made_begin();
	made_put("a/memory.max", "1000\n");
	made_put("a/memory.current", "1200\n");
	check_cgroups("0::/a\n", 1000, 1000);
	made_end();
}

UNIT_TEST(texts_that_no_kernel_writes)
{
	static const char *const texts[] = {
		"", "\n", "0", "0:", "0::", ":::\n", "0:memory\n:\n", "0::/nowhere\n"};
	char *endless = calloc(1, 3 * PATH_MAX);

	made_begin();
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_cgroups(texts[i], 0, 0);
	memset(endless, '/', 3 * PATH_MAX - 1);
	memcpy(endless, "0::", 3);
	check_cgroups(endless, 0, 0);
	free(endless);
	made_end();
}

#define LIMITS(data, space)                                                                 \
	"Limit                     Soft Limit           Hard Limit           Units     \n"  \
	"Max data size             " data "              unlimited            bytes     \n" \
	"Max stack size            1                    unlimited            bytes     \n"  \
	"Max address space         " space "             unlimited            bytes     \n"

static void check_own(const char *text, uint64_t limit, uint64_t used)
{
	struct memory_limit nearest = {0};

	memory_limit_take_own(text, 800, 300, &nearest);
	CHECK_EQ(nearest.limit, limit);
	CHECK_EQ(nearest.used, used);
}

UNIT_TEST(limits_of_its_own)
{
	check_own(LIMITS("unlimited", "unlimited"), 0, 0);
	check_own(LIMITS("unlimited", "1000"), 1000, 800);
	check_own(LIMITS("400", "unlimited"), 400, 300);
	check_own(LIMITS("400", "1000"), 400, 300);
	check_own(LIMITS("700", "1000"), 1000, 800);
	check_own("", 0, 0);
	check_own("Max data size", 0, 0);
}

UNIT_TEST(a_nearer_limit_stays)
{
	struct memory_limit nearest = {100, 90};

	memory_limit_take_own(LIMITS("400", "1000"), 800, 300, &nearest);
	CHECK_EQ(nearest.limit, 100);
	CHECK_EQ(nearest.used, 90);
}

/* The case runs in a child of its own, so that its limits are nobody else's. */
UNIT_TEST(the_real_limits_of_a_process)
{
	const struct memory_limit before = memory_limit_of(getpid(), getpid());
	struct rlimit limit = {0};

#if defined(__SANITIZE_ADDRESS__)
	SKIP("a sanitizer maps more than these limits allow");
#endif
	CHECK_EQ(getrlimit(RLIMIT_DATA, &limit), 0);
	limit.rlim_cur = 64 * MIB;
	if (before.limit && before.limit - before.used < 128 * MIB)
		SKIP("another limit is near");
	if (setrlimit(RLIMIT_DATA, &limit))
		SKIP("setrlimit");
	const struct memory_limit data = memory_limit_of(getpid(), getpid());
	/* a sanitizer reserves more than this */
	CHECK_EQ(data.limit, 64 * MIB);
	CHECK(data.used > 0 && data.used <= data.limit);
	if (data.used == data.limit)
		SKIP("the process has more already");
	void *block =
		mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(block != MAP_FAILED);
	const struct memory_limit more = memory_limit_of(getpid(), getpid());
	CHECK_EQ(more.limit, 64 * MIB);
	CHECK(more.used >= data.used + 8 * MIB && more.used < data.used + 9 * MIB);
}

UNIT_MAIN()
