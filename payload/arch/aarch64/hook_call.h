/* SPDX-License-Identifier: MIT */
/* hook_call.h - struct hook_call for aarch64, see arch.h, which alone includes it. */
#ifndef PAYLOAD_HOOK_CALL_H
#define PAYLOAD_HOOK_CALL_H

#include "hi_wire.h"

/*
 * The stub stores it. From bp on it is the frame of a function that saves all registers that calls
 * preserve and has no other words in it, as compilers lay it out: the unwind rows of the return
 * gadget know only that order. bp and return_address are its frame record. The return address is
 * signed while an original runs whose gadget has rows that say so.
 */
struct hook_call {
	uint64_t argument[8];
	uint64_t result_at; /* x8: where a result in memory goes */
	uint32_t *guard;
	struct hi_gate_words *words;
	uint64_t begun;
	uint64_t bp;
	uint64_t return_address;
	uint64_t kept[10]; /* callee-saved registers of the caller, x19 to x28 */
};

#endif
