// SPDX-License-Identifier: MIT
// A library whose constructor allocates, before that of the program.
#include <stdlib.h>

void *volatile early_block;

static __attribute__((constructor)) void library_constructor(void)
{
	early_block = malloc(3002);
	free(early_block);
	early_block = malloc(3001);
}
