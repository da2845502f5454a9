/* SPDX-License-Identifier: MIT */
/* moved.h - aarch64: an instruction that is executed elsewhere. */
#ifndef HI_MOVED_INSTRUCTION_H
#define HI_MOVED_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct moved_room {
	uint8_t *out;
	size_t size;
};
/*
 * Writes code, to be placed at `at`, that does what the instruction at pc does and goes on behind
 * that. It may change x16, as a linker may at any call. False: that cannot be, or the two lie too
 * far apart, or there is not enough room (16 bytes always are).
 */
bool moved_write(uint32_t word, uint64_t pc, uint64_t at, struct moved_room room);

#endif
