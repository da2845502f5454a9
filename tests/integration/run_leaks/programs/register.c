// SPDX-License-Identifier: MIT
// Threads that have a block's address in a register alone: a general one, and a vector register.
// want: direct lose 65 1
#include <pthread.h>

#include "leaky.h"

static int is_ready[2];

static APART void lose(void)
{
	used(malloc(65));
}

static APART void *make(size_t bytes)
{
	return used(malloc(bytes));
}

static void say(void)
{
	if (write(is_ready[1], "", 1) != 1)
		_exit(1);
}

static void *in_general(void *argument)
{
	register void *block __asm__("rbx") = make(66);

	wipe();
	say();
	for (;;)
		__asm__ volatile("pause" : "+r"(block));
	return argument;
}

static void *in_vector(void *argument)
{
	void *block = make(67);

	__asm__ volatile("movq %0, %%xmm7\n\txorl %k0, %k0" : "+r"(block) : : "xmm7");
	say();
	for (;;)
		__asm__ volatile("pause");
	return argument;
}

int main(void)
{
	pthread_t thread[2];
	char byte;

	if (pipe(is_ready))
		return 1;
	lose();
	pthread_create(&thread[0], NULL, in_general, NULL);
	pthread_create(&thread[1], NULL, in_vector, NULL);
	wipe();
	return read(is_ready[0], &byte, 1) != 1 || read(is_ready[0], &byte, 1) != 1;
}
