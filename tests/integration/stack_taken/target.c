/* SPDX-License-Identifier: MIT */
/*
 * At the word "grow" it takes memory that it has never had before, and tells how many of these
 * calls changed errno though they succeeded; at "stacks", what libtaker saw.
 */
#include "../target.h"

#include <errno.h>

#define BLOCKS 512
/* with tcmalloc, which asks the kernel for a megabyte at a time, every 17th makes the heap grow */
#define BLOCK_BYTES 60000

unsigned long grow(void);
extern const void *taker_wanted __attribute__((weak));
extern unsigned long taker_taken __attribute__((weak)), taker_complete __attribute__((weak)),
	taker_chained __attribute__((weak));

__attribute__((noinline)) unsigned long grow(void)
{
	static void *volatile kept;
	unsigned long changed = 0;

	for (int i = 0; i < BLOCKS; i++) {
		errno = EBADE;
		kept = malloc(BLOCK_BYTES);
		changed += !kept || errno != EBADE;
	}
	return changed;
}

/* dprintf allocates, too. */
static unsigned long grow_and_take(void)
{
	unsigned long changed;

	if (&taker_wanted)
		taker_wanted = (const void *)(size_t)grow;
	changed = grow();
	if (&taker_wanted)
		taker_wanted = NULL;
	return changed;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	target_say("ready\n");
	while (target_read(command))
		if (strcmp(command, "grow") == 0)
			target_say("%lu calls changed errno\n", grow_and_take());
		else if (&taker_wanted)
			target_say("%lu and %lu of %lu\n", taker_complete, taker_chained,
				   taker_taken);
	return 0;
}
