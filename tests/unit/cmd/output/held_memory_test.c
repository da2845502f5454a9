/* SPDX-License-Identifier: MIT */
/* held_memory: memory that is there, and a stack that grows all the same. */
#include "held_memory.h"

#include <errno.h>
#include <sys/resource.h>

#include "unit.h"

#define MB ((size_t)1 << 20)

/* Kilobytes of a line of /proc/self/status. */
static long status_of(const char *name)
{
	char line[256];
	long value = -1;
	FILE *file = fopen("/proc/self/status", "r");

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			value = strtol(line + strlen(name), NULL, 10);
	fclose(file);
	return value;
}

UNIT_TEST(what_is_taken_stays)
{
	const long before = status_of("VmRSS:");
	const int err = held_memory_take(16 * MB);
	const long held = status_of("VmRSS:");

	CHECK(held - before >= 15 * 1024);
	if (!err)
		CHECK(status_of("VmLck:") >= 15 * 1024);
	else
		CHECK(err == -EPERM || err == -ENOMEM);
}

/* Uses so much of the stack, a page after the other. */
__attribute__((noinline)) static unsigned dig(size_t bytes)
{
	volatile char page[4096];

	page[0] = (char)bytes;
	return bytes > sizeof(page) ? dig(bytes - sizeof(page)) + (unsigned)page[0] : 0;
}

/* The analyzer does so: it takes memory, and then becomes a user without rights. */
UNIT_TEST(without_rights_the_stack_still_grows)
{
	const struct rlimit little = {MB, MB};

	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &little), 0);
	(void)!held_memory_take(4 * MB);
	if (!geteuid() && setuid(65534))
		UNIT_FAIL("cannot become another user");
	(void)dig(6 * MB);
}

UNIT_MAIN()
