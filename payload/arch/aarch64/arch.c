/* SPDX-License-Identifier: MIT */
/*
 * arch.c - implements arch.h for aarch64 under Linux, and asserts that gate.S uses the same numbers
 * as the headers.
 */
#include "arch/arch.h"

#include "gate_layout.h"

_Static_assert(GATE_BYTES == HI_GATE_BYTES && GATE_STRIDE == HI_GATE_STRIDE &&
		       GATE_EXIT_BYTES == HI_GATE_EXIT_BYTES,
	       "gate_layout.h");
_Static_assert((GATE_HASH_HIGH << 16 | GATE_HASH_LOW) == HI_HASH_GATE, "gate_layout.h");
_Static_assert((THREAD_HASH_HIGH << 16 | THREAD_HASH_LOW) == HI_HASH_THREAD &&
		       THREAD_HASH_SHIFT == HI_HASH_THREAD_SHIFT,
	       "gate_layout.h");
_Static_assert(HI_THREAD_WAYS == 4, "the gate looks at four slots");
_Static_assert(WORDS_ORIGINAL == offsetof(struct hi_gate_words, original), "gate_layout.h");
_Static_assert(WORDS_HOOK == offsetof(struct hi_gate_words, hook), "gate_layout.h");
_Static_assert(WORDS_THREAD_SLOTS == offsetof(struct hi_gate_words, thread_slots), "gate_layout.h");
_Static_assert(WORDS_OCCUPANCY == offsetof(struct hi_gate_words, occupancy), "gate_layout.h");
_Static_assert(WORDS_STATE == offsetof(struct hi_gate_words, state), "gate_layout.h");
_Static_assert(WORDS_OCCUPANCY_MASK == offsetof(struct hi_gate_words, occupancy_mask),
	       "gate_layout.h");
_Static_assert(WORDS_RESTORE_AT == offsetof(struct hi_gate_words, restore_at), "gate_layout.h");
_Static_assert(WORDS_RESTORE_VALUE == offsetof(struct hi_gate_words, restore_value),
	       "gate_layout.h");
_Static_assert(WORDS_RETURN_GADGET == offsetof(struct hi_gate_words, return_gadget),
	       "gate_layout.h");
_Static_assert(WORDS_RETURN_REGISTER == offsetof(struct hi_gate_words, return_register),
	       "gate_layout.h");
_Static_assert(1u << RETURN_SIGNED_BIT == HI_RETURN_SIGNED, "gate_layout.h");
_Static_assert(STATE_ARMED == offsetof(struct hi_state, armed), "gate_layout.h");
_Static_assert(SLOT_BITS == HI_THREAD_SLOT_BITS &&
		       1 << SLOT_BYTES_LOG2 == sizeof(struct hi_thread_slot),
	       "gate_layout.h");
_Static_assert(SLOT_FAST_OWNER == offsetof(struct hi_thread_slot, fast_owner), "gate_layout.h");
_Static_assert(SLOT_COUNTDOWN == offsetof(struct hi_thread_slot, countdown) &&
		       SLOT_COUNTDOWN == SLOT_FAST_OWNER + 8,
	       "gate_layout.h; the gate loads both at once");
_Static_assert(CALL_ARGUMENT2 == offsetof(struct hook_call, argument[2]), "gate_layout.h");
_Static_assert(CALL_ARGUMENT4 == offsetof(struct hook_call, argument[4]), "gate_layout.h");
_Static_assert(CALL_ARGUMENT6 == offsetof(struct hook_call, argument[6]), "gate_layout.h");
_Static_assert(CALL_RESULT_AT == offsetof(struct hook_call, result_at), "gate_layout.h");
_Static_assert(CALL_GUARD == offsetof(struct hook_call, guard), "gate_layout.h");
_Static_assert(CALL_KEPT == offsetof(struct hook_call, kept), "gate_layout.h");
_Static_assert(CALL_WORDS == offsetof(struct hook_call, words) &&
		       CALL_BP == offsetof(struct hook_call, bp),
	       "gate_layout.h");
_Static_assert(offsetof(struct hook_call, return_address) == CALL_BP + 8 &&
		       CALL_KEPT == CALL_BP + 16,
	       "a frame record, and the registers above it");
_Static_assert(offsetof(struct hook_call, kept[10]) == sizeof(struct hook_call),
	       "the caller's frame begins after it");
_Static_assert(STACK_ARGUMENTS == HI_ARCH_STACK_ARGUMENTS, "gate_layout.h");
_Static_assert(sizeof(struct hook_call) == CALL_BYTES && CALL_BYTES % 16 == 0,
	       "the stub keeps the stack aligned");

/*
 * In the trampoline sp points at the siginfo, of 128 bytes. The ucontext follows, with a
 * struct sigcontext 176 bytes into it. These are its regs[29], regs[30], sp and pc.
 */
struct arch_signal_frame arch_signal_frame(void)
{
	return (struct arch_signal_frame){.pc = 568, .sp = 560, .bp = 544, .link = 552};
}
