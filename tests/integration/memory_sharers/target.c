/* SPDX-License-Identifier: MIT */
/*
 * Does nothing itself but answer; processes that share its memory allocate without a pause, and
 * some take the functions' addresses into registers long before they call them; the number of one
 * is said at first. Commands: state = answers "well" if all of them live and have got on since the
 * last time, "stuck" if they have not, "dead" if one has ended. exec = becomes cat, while they live
 * on.
 */
#include "../../sharer.h"
#include "../target.h"

#include <stdatomic.h>
#include <sys/wait.h>

#define SHARERS 4
#define LOOPS 20000
#define HOLD_TURNS 50000000

static atomic_ulong rounds[SHARERS];
static pid_t pids[SHARERS];
static struct sharer_place places[SHARERS];

static void check(const unsigned char *block, size_t size, unsigned char tag)
{
	if (block[0] != tag || block[size - 1] != tag)
		abort();
}

static void use(void *(*take)(size_t), void (*give)(void *), size_t size, unsigned char tag)
{
	unsigned char *block = take(size);

	block[0] = block[size - 1] = tag;
	check(block, size, tag);
	give(block);
}

/* For tens of milliseconds the addresses stand in registers, and nowhere else. */
static void hold(unsigned char tag)
{
	void *(*take)(size_t);
	void (*give)(void *);
	unsigned long turns = HOLD_TURNS;

	__asm__ volatile("mov malloc@GOTPCREL(%%rip), %0\n\t"
			 "mov free@GOTPCREL(%%rip), %1\n\t"
			 "0: dec %2\n\t"
			 "jnz 0b"
			 : "=&r"(take), "=&r"(give), "+r"(turns));
	use(take, give, 1000, tag);
}

static int allocate(void *number)
{
	const size_t me = (size_t)number;

	for (;; rounds[me]++) {
		if (me % 2)
			hold((unsigned char)me);
		for (size_t i = 0; i < LOOPS; i++)
			use(malloc, free, 1 + i % 2000, (unsigned char)me);
	}
	return 0;
}

static const char *state(void)
{
	for (size_t i = 0; i < SHARERS; i++) {
		const unsigned long before = rounds[i];
		int status;

		for (int wait = 0; rounds[i] == before; wait++) {
			if (waitpid(pids[i], &status, __WALL | WNOHANG))
				return "dead";
			if (wait == TARGET_PATIENCE_MS)
				return "stuck";
			usleep(1000);
		}
	}
	return "well";
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	sharer_be_threaded();
	for (size_t i = 0; i < SHARERS; i++)
		pids[i] = sharer_start(&places[i], allocate, (void *)i);
	target_say("%s\n", state());
	target_say("sharer %d\n", (int)pids[1]);
	target_say("ready\n");
	while (target_read(command)) {
		if (!strcmp(command, "exec"))
			execlp("cat", "cat", (char *)NULL);
		target_say("%s\n", state());
	}
	for (size_t i = 0; i < SHARERS; i++)
		kill(pids[i], SIGKILL);
	return 0;
}
