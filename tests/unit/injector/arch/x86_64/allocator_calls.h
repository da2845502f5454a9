/* SPDX-License-Identifier: MIT */
/*
 * allocator_calls.h - what allocator_calls.c asks moved_allocators_test.c for, by a pipe in each
 * direction.
 */
#ifndef HI_ALLOCATOR_CALLS_H
#define HI_ALLOCATOR_CALLS_H

#include <stdint.h>

enum { CODE_BYTES = 16 };

/* The function at pc begins with this code: move its first instruction to `at`. */
struct move_request {
	char name[64];
	uint64_t pc, at;
	uint8_t code[CODE_BYTES];
};
struct move_reply {
	uint64_t is_moved;
	uint8_t exit[CODE_BYTES];
};

#endif
