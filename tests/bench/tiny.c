/* SPDX-License-Identifier: MIT */
/*
 * tiny.c - a program that holds so many blocks of one byte, each with a pointer to the one before.
 * It writes a line when it is done, and waits for the end of its input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const long wanted = argc > 1 ? atol(argv[1]) : 0;
	void *last = NULL;
	char byte;

	for (long i = 0; i < wanted; i++) {
		/* glibc gives 24 bytes where one is asked for */
		void **volatile made = malloc(1);

		if (!made)
			return 1;
		*made = last;
		last = made;
	}
	puts("ready");
	fflush(stdout);
	return read(STDIN_FILENO, &byte, 1) < 0;
}
