// SPDX-License-Identifier: MIT
// What all programs need to lose a pointer for certain: a copy in a register, or in the remains of
// frames that have returned, is a pointer like any other.
//
// The first lines of each program say what leaks, after "want:", as
//     direct|indirect FUNCTION BYTES BLOCKS
// or that nothing does; FUNCTION is the one that calls the allocator. "lsan:" says why
// LeakSanitizer does not find the same, "status:" the program's own exit status, if that is not 0.
#ifndef LEAKY_H
#define LEAKY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noipa))

// The compiler must take the block to be used, and may not keep its address.
static inline void *used(void *block)
{
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

// Overwrites the frames of functions that have returned, and the registers that calls may change.
static APART void wipe(void)
{
	volatile unsigned char room[65536];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

#endif
