/* SPDX-License-Identifier: MIT */
/* target.c - a plain program that imports malloc and sleeps. */
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	for (;;) {
		void *volatile block = malloc(100);
		free(block);
		usleep(1000);
	}
}
