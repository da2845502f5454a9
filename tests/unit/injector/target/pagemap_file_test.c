/* SPDX-License-Identifier: MIT */
/* pagemap_file_test.c - it says which pages are there, and never where they lie in the machine. */
#include "pagemap_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hi_wire.h"
#include "unit.h"

#define PRESENT (1ull << 63)
#define FRAME ((1ull << 55) - 1)

static uint64_t word_of(int fd, const void *at)
{
	uint64_t word = 0;

	CHECK_EQ(pread(fd, &word, sizeof(word),
		       (off_t)((uintptr_t)at / HI_PAGE_BYTES * sizeof(word))),
		 (ssize_t)sizeof(word));
	return word;
}

static uint64_t effective(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	CHECK_EQ(syscall(SYS_capget, &header, data), 0);
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

UNIT_TEST(without_physical_addresses)
{
	const uint64_t before = effective();
	static volatile char here = 1;
	const int own = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
		  fd = pagemap_file_open(getpid(), getpid());

	CHECK(fd >= 0 && own >= 0);
	CHECK_EQ(effective(), before);
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	CHECK_EQ(here, 1);
	CHECK(word_of(fd, (const void *)&here) & PRESENT);
	CHECK_EQ(word_of(fd, (const void *)&here) & FRAME, 0);
	if (!(word_of(own, (const void *)&here) & FRAME))
		printf("no CAP_SYS_ADMIN: there are no physical addresses to hide\n");
	close(own);
	close(fd);
}

UNIT_TEST(of_no_process)
{
	const uint64_t before = effective();

	CHECK(pagemap_file_open(0x7ffffffe, 0) < 0);
	CHECK_EQ(effective(), before);
}

UNIT_MAIN()
