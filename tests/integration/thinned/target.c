/* SPDX-License-Identifier: MIT */
/*
 * target.c - 64 functions that begin to keep blocks all at once, of many sizes: more than fit into
 * the budget, so that each of them is thinned. It is asked to "keep", and answers with the bytes
 * that each keeps, in order.
 */
#include "../target.h"

#include <stdint.h>

#define SITES 64
#define ROUNDS 30
#define EACH 10 /* blocks of a site in a round */
#define PAUSE_US 10000

/* Not a tail call, so that the site is on the stack. */
#define SITE(tens, ones)                                                         \
	__attribute__((noinline, noclone)) void *site_##tens##ones(size_t size); \
	void *site_##tens##ones(size_t size)                                     \
	{                                                                        \
		void *volatile block = malloc(size);                             \
		return block;                                                    \
	}
#define SITES_OF(X, tens) \
	X(tens, 0) X(tens, 1) X(tens, 2) X(tens, 3) X(tens, 4) X(tens, 5) X(tens, 6) X(tens, 7)
#define ALL(X)         \
	SITES_OF(X, 0) \
	SITES_OF(X, 1) \
	SITES_OF(X, 2) SITES_OF(X, 3) SITES_OF(X, 4) SITES_OF(X, 5) SITES_OF(X, 6) SITES_OF(X, 7)
ALL(SITE)

#define NAME(tens, ones) site_##tens##ones,
static void *(*const sites[SITES])(size_t size) = {ALL(NAME)};
static uint64_t kept[SITES];
static uint64_t state = 88172645463325252u;

static uint64_t random_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* 16 bytes to 32 KiB, each power of two as often as the others. */
static size_t random_size(void)
{
	const size_t order = (size_t)16 << random_number() % 11;

	return order + random_number() % order;
}

static void keep(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		for (int each = 0; each < EACH; each++)
			for (int i = 0; i < SITES; i++) {
				const size_t size = random_size();

				*(volatile char *)sites[i](size) = 1;
				kept[i] += size;
			}
		usleep(PAUSE_US);
	}
}

int main(void)
{
	char command[TARGET_COMMAND_MAX], answer[SITES * 24];

	target_say("ready\n");
	while (target_read(command)) {
		int length = 0;

		keep();
		for (int i = 0; i < SITES; i++)
			length += snprintf(answer + length, sizeof(answer) - (size_t)length,
					   "%llu ", (unsigned long long)kept[i]);
		target_say("%s\n", answer);
	}
	return 0;
}
