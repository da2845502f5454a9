/* SPDX-License-Identifier: MIT */
/*
 * Maps each of its arguments as a dynamic linker would, for its code, and then allocates until it
 * is ended.
 */
#include "../target.h"

#include <fcntl.h>
#include <sys/mman.h>

#define MAPPED_BYTES (64u << 10)

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			 open(argv[i], O_RDONLY), 0) == MAP_FAILED)
			return 1;
	target_say("ready\n");
	for (;;) {
		free(malloc(1000));
		usleep(1000);
	}
}
