/* SPDX-License-Identifier: MIT */
/*
 * shelf.c - what the program `shelf' beside it was made of, so that no test needs a compiler for
 * aarch64:
 *
 *     aarch64-linux-gnu-gcc -O1 -g -nostdlib -static -Wl,-z,max-page-size=65536,--build-id
 *         -fno-asynchronous-unwind-tables -fdebug-prefix-map=$PWD=/src -o shelf shelf.c
 */
void *allocate(unsigned long size);

__attribute__((noinline)) void *allocate(unsigned long size)
{
	static char memory[4096];
	static unsigned long used;

	used += size;
	return memory + used - size;
}

static inline void *shelve(unsigned long count)
{
	return allocate(count * 8);
}

__attribute__((noinline)) void *take_shelf(unsigned long count)
{
	void *volatile shelf = shelve(count);

	return shelf;
}

void _start(void)
{
	for (;;)
		take_shelf(3);
}
