/* SPDX-License-Identifier: MIT */
/*
 * arch.h - all the payload knows about a CPU; implemented by arch/$(ARCH)/, chosen at link time.
 *
 * Beside the functions below, gate.S defines the gate templates and the hook stubs that hi_wire.h lists.
 */
#ifndef PAYLOAD_ARCH_H
#define PAYLOAD_ARCH_H

#include "hi_wire.h"

/*
 * Never goes back on one CPU; agrees between CPUs where the kernel tells the time by it. Read when all that stands before it in the program has been done: what
 * another thread did before it let us know of something that we know is earlier. (What comes after it may be done before.) No system call.
 */
static inline uint64_t arch_cycles(void);
/* The same, by an instruction that not every CPU has: hi_state.fast_clock. */
static inline uint64_t arch_cycles_fast(void);
/* The same, but perhaps of a moment ago, and faster: it does not wait for anything. */
static inline uint64_t arch_cycles_about(void);

/* Unique to each live thread, never 0. */
static inline uint64_t arch_thread_pointer(void);

/*
 * For words that no other thread changes: whole for a signal handler of this thread, which comes before it or after it, and visible to others a moment later,
 * but before whatever this thread stores after it. The second returns what was there.
 */
static inline void arch_increment_alone(uint32_t *word);
static inline uint64_t arch_swap_alone(uint64_t *word, uint64_t expected, uint64_t desired);

/* Where the interrupted registers lie, relative to the stack pointer on the signal trampoline. */
struct arch_signal_frame {
	uint16_t pc, sp, bp;
};
struct arch_signal_frame arch_signal_frame(void);

/*
 * A call on its way through a hook: what the stub leaves on the stack, highest field pushed first, for the handler to read. The handler sets `guard` to the
 * count that it has raised, in_flight of a slot or one that is shared; the stub lowers it as its last act.
 */
struct hook_call {
	uint64_t argument[6];
	uint32_t *guard;
	struct hi_gate_words *words;
	uint64_t begun;          /* for the handler: when our own code began to run */
	uint64_t kept[5];        /* the caller's, as any function saves them that needs them all: the unwind rows of the return gadget know of no other order */
	uint64_t bp;             /* the caller's frame pointer */
	uint64_t return_address; /* into the caller; the caller's stack begins behind it */
};

/*
 * Calls a function of the target's so that whoever takes the stack in there comes to the hook's caller. An allocator may do so while it serves the call
 * (tcmalloc whenever its heap grows, any with a profiler of its own), and for our code there are no unwind rows where it looks. So the function returns to
 * words->return_gadget, whose rows say of any frame that begins like that of the stub where the registers of its caller are: the frame pointer is the stub's,
 * which chains of frame pointers lead through as well. That gadget is a call by any of the other registers that calls keep, and all of them lead back to us.
 *
 * Without a gadget the frame pointer is zero, by which the ABI marks the end of the stack. For want of rows an unwinder would take it for that of our frame.
 * Where it leads to the caller's, libunwind comes out there with the right pc but a stack pointer of its own making, and goes by what lies in our frames from
 * then on; it asks the kernel whether there is memory, and the answer is left in errno of a call that succeeds.
 */
uint64_t arch_call_original(uint64_t argument0, uint64_t argument1, uint64_t argument2, uint64_t argument3, uint64_t function, const struct hook_call *call);

/* What the stub does next: return `result` to the caller, or, if `pass`, jump to words->original with all arguments as they came. */
struct hook_outcome {
	uint64_t result;
	uint64_t pass;
};

#include "arch_inline.h"

#endif
