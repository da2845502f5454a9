/* SPDX-License-Identifier: MIT */
/*
 * A program whose memory comes from ALLOCATE, which as it is built by others is an allocator of its
 * own. "ready", then commands, each answered when it is done: "keep N" takes N MB in small blocks,
 * "map N" takes them by mmap.
 */
#include <stdint.h>
#include <sys/mman.h>

#include "../target.h"

#ifndef ALLOCATE
#define ALLOCATE malloc
#endif
#define BLOCK_BYTES 1000u
#define MEGABYTE (1u << 20)

void *ALLOCATE(size_t size);

#ifdef DEFINES_ALLOCATE
/* Never gives anything back, as nothing is freed here. */
__attribute__((noinline)) void *ALLOCATE(size_t size)
{
	static char *at, *end;

	if ((size_t)(end - at) < size) {
		at = mmap(NULL, MEGABYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
		end = at + MEGABYTE;
	}
	at += size;
	return at - size;
}
#endif

static void *volatile last;

__attribute__((noinline)) static void keep(unsigned megabytes)
{
	for (uint64_t bytes = 0; bytes < (uint64_t)megabytes * MEGABYTE; bytes += BLOCK_BYTES)
		memset(last = ALLOCATE(BLOCK_BYTES), 1, BLOCK_BYTES);
}

__attribute__((noinline)) static void map(unsigned megabytes)
{
	void *at = mmap(NULL, (size_t)megabytes * MEGABYTE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at != MAP_FAILED)
		memset(at, 1, (size_t)megabytes * MEGABYTE);
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	unsigned megabytes;

	last = malloc(BLOCK_BYTES); /* an import, so that there is something to hook */
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "keep %u", &megabytes) == 1)
			keep(megabytes);
		else if (sscanf(command, "map %u", &megabytes) == 1)
			map(megabytes);
		target_say("done\n");
	}
	return 0;
}
