/* SPDX-License-Identifier: MIT */
/*
 * `fork`: a child that waits, and one that allocates all the time. `spoil`: the first writes over
 * what the arena's file has of the parts that are private in its parent. `forge`: and empties the
 * journal. `use`: allocates, and asks the second child whether it still can.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "hi_wire.h"
#include "../target.h"

#define NOBODY 65534
#define ROUNDS 20000

static pid_t spoiler, sibling;
static int order[2], answer[2];
static volatile unsigned long *turns;

/*
 * Where the arena begins; 0: there is none. What can be written lies right behind its private
 * pages.
 */
static uintptr_t find_arena(void)
{
	char line[512];
	uintptr_t lo, hi, found = 0;
	unsigned long offset;
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps && !found && fgets(line, sizeof(line), maps))
		if (strstr(line, "memfd:heapinject") &&
		    sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %lx", &lo, &hi, &offset) == 3 &&
		    offset == 0 &&
		    *(const uint64_t *)lo ==
			    HI_WIRE_MAGIC) /* the dlopen loader's file has the same name */
			found = lo;
	if (maps)
		fclose(maps);
	return found;
}

static unsigned long fill(void *at, uint64_t size)
{
	memset(at, 0xcc, size);
	return size / HI_PAGE_BYTES;
}

/*
 * By making the mapping that can be written as large as the file: what lies behind it in the file
 * comes into reach.
 */
static unsigned long spoil_behind(uintptr_t arena, const struct hi_control *control)
{
	const uint64_t now = control->tables.offset - 2 * HI_PRIVATE_BYTES,
		       all = control->arena_size - HI_PRIVATE_BYTES;
	char *grown = mremap((void *)(arena + HI_PRIVATE_BYTES), now, all, MREMAP_MAYMOVE);

	if (grown == MAP_FAILED)
		return 0;
	return fill(grown + control->near.offset - HI_PRIVATE_BYTES, control->near.size) +
	       fill(grown + control->image.offset - HI_PRIVATE_BYTES,
		    control->arena_size - control->image.offset);
}

/* The private pages lie before it: so the file's take the place of the last ones. */
static unsigned long spoil_before(uintptr_t arena, const struct hi_control *control)
{
	void *last = (void *)(arena + control->tables.offset - HI_PRIVATE_BYTES);

	return remap_file_pages(last, HI_PRIVATE_BYTES, 0, 0, 0) ? 0 : fill(last, HI_PRIVATE_BYTES);
}

static void be_spoiler(void)
{
	const uintptr_t arena = find_arena();
	struct hi_control control;
	unsigned long pages = 0;
	char byte;

	if (geteuid() == 0 &&
	    (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(3);
	if (read(order[0], &byte, 1) != 1 || !arena)
		_exit(4);
	memcpy(&control, (void *)arena, HI_PRIVATE_BYTES);
	if (byte == 'f') {
		struct hi_control *shared = (struct hi_control *)arena;

		memset(shared->journal, 0, sizeof(shared->journal));
		shared->journal_count = 0;
	}
	pages = spoil_before(arena, &control);
	pages += spoil_behind(arena, &control);
	(void)!write(answer[1], &pages, sizeof(pages));
	for (;;)
		pause();
}

static void allocate(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		char *volatile block = malloc(64 + i % 1000);

		block[0] = 1;
		free(block);
	}
}

static void be_sibling(void)
{
	for (;;) {
		allocate();
		++*turns;
	}
}

static void begin(void)
{
	if (pipe(order) || pipe(answer))
		_exit(3);
	spoiler = fork();
	if (!spoiler)
		be_spoiler();
	sibling = fork();
	if (!sibling)
		be_sibling();
	target_say("%d %d\n", spoiler, sibling);
}

static void spoil(char how)
{
	unsigned long pages = 0;

	(void)!write(order[1], &how, 1);
	if (read(answer[0], &pages, sizeof(pages)) != sizeof(pages))
		pages = 0;
	target_say("%lu\n", pages);
}

static void use(void)
{
	const unsigned long before = *turns;
	int status;

	allocate();
	while (*turns < before + 2) {
		if (waitpid(sibling, &status, WNOHANG) != 0) {
			target_say("the sibling ended with %#x\n", status);
			return;
		}
		usleep(1000);
	}
	target_say("right\n");
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	turns = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	target_say("ready\n");
	while (target_read(command)) {
		if (!strcmp(command, "fork"))
			begin();
		else if (!strcmp(command, "spoil") || !strcmp(command, "forge"))
			spoil(command[0]);
		else
			use();
	}
	return 0;
}
