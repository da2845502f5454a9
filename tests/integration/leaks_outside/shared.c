/* SPDX-License-Identifier: MIT */
/* shared.c - has the only pointers to its blocks in shared memory, most of which is a hole. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALL (64u << 10)
#define LARGE (64u << 20)

static __attribute__((noinline)) void keep(int fd, size_t bytes)
{
	void **map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		exit(1);
	map[bytes / 2 / sizeof(*map)] = memset(malloc(1000), 1, 1000);
}

static __attribute__((noinline)) void wipe(void)
{
	volatile uint8_t room[16 << 10];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main(void)
{
	static const size_t sizes[] = {SMALL, LARGE};

	for (int i = 0; i < 2; i++) {
		const int fd = memfd_create("shared", 0);

		if (ftruncate(fd, (off_t)sizes[i]))
			return 1;
		keep(fd, sizes[i]);
	}
	wipe();
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
