/* SPDX-License-Identifier: MIT */
/* hook_call.h - struct hook_call for x86-64, see arch.h, which alone includes it. */
#ifndef PAYLOAD_HOOK_CALL_H
#define PAYLOAD_HOOK_CALL_H

#include "hi_wire.h"

/* The stub pushes it, highest field first; the return address is the caller's `call`. */
struct hook_call {
	uint64_t argument[6];
	uint32_t *guard;
	struct hi_gate_words *words;
	uint64_t begun;
	/*
	 * callee-saved registers of the caller, in the usual order for a function that saves all of
	 * them: the unwind rows of the return gadget know only that order
	 */
	uint64_t kept[5];
	uint64_t bp;
	uint64_t return_address;
};

#endif
