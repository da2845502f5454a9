/* SPDX-License-Identifier: MIT */
/*
 * A program with code of its own making, and a map of it for perf, by the pid that it sees. The
 * code keeps a block each millisecond.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES 800

struct block {
	struct block *next;
	char bytes[BLOCK_BYTES];
};

static struct block *kept;

static __attribute__((noinline)) void keep_block(void)
{
	struct block *block = malloc(sizeof(*block));

	if (!block)
		abort();
	memset(block->bytes, 1, sizeof(block->bytes));
	block->next = kept;
	kept = block;
}

/* push %rbp; mov %rsp, %rbp; movabs $function, %rax; call *%rax; pop %rbp; ret */
static size_t generate(unsigned char *code, void (*function)(void))
{
	static const unsigned char start[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8},
				   end[] = {0xff, 0xd0, 0x5d, 0xc3};
	const uint64_t address = (uintptr_t)function;

	memcpy(code, start, sizeof(start));
	memcpy(code + sizeof(start), &address, sizeof(address));
	memcpy(code + sizeof(start) + sizeof(address), end, sizeof(end));
	return sizeof(start) + sizeof(address) + sizeof(end);
}

int main(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*generated)(void);
	char path[64];

	if (code == MAP_FAILED)
		return 1;
	const size_t size = generate(code, keep_block);

	memcpy(&generated, &code, sizeof(generated));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(path, "w");

	if (!map)
		return 1;
	fprintf(map, "%lx %zx made_at_run_time\n", (unsigned long)(uintptr_t)code, size);
	fclose(map);
	puts("ready");
	fflush(stdout);
	for (;;) {
		generated();
		nanosleep(&pause, NULL);
	}
}
