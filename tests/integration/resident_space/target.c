/* SPDX-License-Identifier: MIT */
/*
 * resident_space/target.c - five functions that keep blocks of which all, half, none or a quarter
 * of the pages are there, or were written to swap space; and the truth about them, by mincore().
 *
 * Commands: "keep N BYTES", "drop" (gives the pages of the first function's blocks back), "truth"
 * (function and resident bytes, for each), "free".
 */
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "../target.h"

#define PAGE ((uintptr_t)4096)
#define KINDS 5
#define BLOCKS_MAX 4096
#define PAGES_MAX 1024

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

static char *block[KINDS][BLOCKS_MAX];
static size_t count, size;
static const char *const name[KINDS] = {"touch_all", "touch_half", "touch_none", "give_back",
					"page_out"};

/* Of the whole pages of a block from `from` to its end. */
static void advise(char *at, size_t from, int advice)
{
	const uintptr_t lo = ((uintptr_t)at + from + PAGE - 1) / PAGE * PAGE,
			hi = ((uintptr_t)at + size) / PAGE * PAGE;

	if (hi > lo && madvise((void *)lo, hi - lo, advice))
		target_say("madvise %d fails\n", advice);
}

static char *touched(char *at, size_t bytes)
{
	if (!at)
		abort();
	memset(at, 1, bytes);
	return at;
}

__attribute__((noinline)) static char *touch_all(void)
{
	return touched(malloc(size), size);
}

__attribute__((noinline)) static char *touch_half(void)
{
	return touched(malloc(size), size / 2);
}

__attribute__((noinline)) static char *touch_none(void)
{
	return touched(malloc(size), 0);
}

__attribute__((noinline)) static char *give_back(void)
{
	char *at = touched(malloc(size), size);

	advise(at, size / 4, MADV_DONTNEED);
	return at;
}

__attribute__((noinline)) static char *page_out(void)
{
	char *at = touched(malloc(size), size);

	advise(at, 0, MADV_PAGEOUT);
	return at;
}

static char *(*const function[KINDS])(void) = {touch_all, touch_half, touch_none, give_back,
					       page_out};

static size_t resident_of(const char *at)
{
	static unsigned char is_there[PAGES_MAX + 2];
	const uintptr_t first = (uintptr_t)at / PAGE * PAGE, end = (uintptr_t)at + size;
	const size_t pages = (end - first + PAGE - 1) / PAGE;
	size_t bytes = 0;

	if (pages > sizeof(is_there) || mincore((void *)first, pages * PAGE, is_there))
		return 0;
	for (size_t i = 0; i < pages; i++) {
		const uintptr_t lo = first + i * PAGE, hi = lo + PAGE;

		if (is_there[i] & 1)
			bytes += (end < hi ? end : hi) - ((uintptr_t)at > lo ? (uintptr_t)at : lo);
	}
	return bytes;
}

static void say_truth(void)
{
	char text[512];
	int length = 0;

	for (int kind = 0; kind < KINDS; kind++) {
		size_t bytes = 0;

		for (size_t i = 0; i < count; i++)
			bytes += resident_of(block[kind][i]);
		length += snprintf(text + length, sizeof(text) - (size_t)length, "%s %zu ",
				   name[kind], bytes);
	}
	target_say("%s\n", text);
}

static void keep(void)
{
	for (size_t i = 0; i < count; i++)
		for (int kind = 0; kind < KINDS; kind++)
			block[kind][i] = function[kind]();
	target_say("kept\n");
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];

	/* each block is a mapping, of small pages */
	mallopt(M_MMAP_THRESHOLD, 16384);
	(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "keep %zu %zu", &count, &size) == 2 && count <= BLOCKS_MAX &&
		    size <= PAGES_MAX * PAGE) {
			keep();
		} else if (!strcmp(command, "drop")) {
			for (size_t i = 0; i < count; i++)
				advise(block[0][i], 0, MADV_DONTNEED);
			target_say("dropped\n");
		} else if (!strcmp(command, "truth")) {
			say_truth();
		} else {
			for (int kind = 0; kind < KINDS; kind++)
				for (size_t i = 0; i < count; i++)
					free(block[kind][i]);
			count = 0;
			target_say("freed\n");
		}
	}
	return 0;
}
