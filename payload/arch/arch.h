/* SPDX-License-Identifier: MIT */
/* Room arch/: all of the payload that knows the CPU. Start at arch.h. */

/*
 * arch.h - everything that the payload knows about a CPU; implemented by arch/$(ARCH)/, chosen at
 * link time.
 *
 * In addition to the functions below, gate.S defines the gate templates and the hook stubs that
 * hi_wire.h lists.
 */
#ifndef PAYLOAD_ARCH_H
#define PAYLOAD_ARCH_H

#include "hi_wire.h"

/*
 * Reads the cycle counter. It never goes back on one CPU. The counters of all CPUs agree if the
 * kernel uses the counter as its clock. The read takes place after everything before it in the
 * program has been executed. So anything that another thread did before it let this thread know of
 * something is earlier than the read. (What comes after the read in the program may be executed
 * before it.) No system call.
 */
static inline uint64_t arch_cycles(void);
/* The same, by an instruction that not every CPU has: to be used if hi_state.fast_clock is 1. */
static inline uint64_t arch_cycles_fast(void);
/* The same, but faster, and perhaps slightly old: it does not wait for earlier instructions. */
static inline uint64_t arch_cycles_about(void);

/*
 * Of a bound that need not be exact: how often the counter ticks in the time in which one of 2 GHz
 * ticks so often. There are counters of 20 MHz, and of 1 GHz.
 */
static inline uint64_t arch_ticks(uint64_t cycles);

/* Where the heap of brk ends. A system call, which fails never and changes nothing. */
static inline uint64_t arch_program_break(void);

/* Unique to each live thread, never 0. */
static inline uint64_t arch_thread_pointer(void);

/* A return address as it was before a function may have signed it. */
static inline uint64_t arch_plain_address(uint64_t address);

/*
 * For words that no other thread changes. The change is indivisible with respect to a signal
 * handler of this thread, which runs before it or after it. Other threads see the change somewhat
 * later, but before they see anything that this thread stores after it. The last function returns
 * the value that was there.
 */
static inline void arch_increment_alone(uint32_t *word);
static inline void arch_decrement_alone(uint32_t *word);
static inline uint64_t arch_swap_alone(uint64_t *word, uint64_t expected, uint64_t desired);

/*
 * Offsets in bytes of the interrupted registers, relative to the stack pointer in the signal
 * trampoline.
 */
struct arch_signal_frame {
	uint16_t pc, sp, bp;
	uint16_t link; /* the register that calls leave the return address in; 0 = there is none */
};
struct arch_signal_frame arch_signal_frame(void);

/*
 * The CFA of a .plt entry for lazy binding, in which the thread is at pc. boundary: what
 * arch_plt_boundary of injector/arch has found in its CFA expression.
 */
static inline uint64_t arch_plt_cfa(uint64_t sp, uint64_t pc, uint64_t boundary);

/*
 * A call on its way through a hook: what the stub leaves on the stack, for the handler to read. It
 * ends where the caller's stack frame begins. The CPU's hook_call.h defines it, with at least these
 * fields:
 *
 *   uint64_t argument[6]           the first arguments, in order
 *   uint32_t *guard                set by the handler to the address of the count that it has
 *                                  raised: in_flight of a slot, or a shared count. The stub lowers
 *                                  that count as its last act
 *   struct hi_gate_words *words
 *   uint64_t begun                 for the handler: cycle counter when the payload's own code began
 *                                  to run
 *   uint64_t bp                    the caller's frame pointer
 *   uint64_t return_address        address in the caller
 */
#include "hook_call.h"

/*
 * Calls a function of the target, with these arguments and those after them that the hooked
 * function was given, in such a way that an unwinder inside that function reaches the
 * hook's caller. An allocator may unwind while it serves the call (tcmalloc does so whenever its
 * heap grows, and so does any allocator with a profiler of its own), and an unwinder finds no rows
 * for the payload's code. So the function returns to words->return_gadget. The unwind rows of the
 * gadget describe, for any frame that begins like the frame of the stub, where the registers of its
 * caller are. The frame pointer is that of the stub, so a chain of frame pointers leads through it
 * as well. The gadget is a call through one of the other callee-saved registers, and all of these
 * lead back to the payload. Where the rows say that the frame's return address is signed, it is
 * signed while the function runs (HI_RETURN_SIGNED).
 *
 * Without a gadget the frame pointer is zero, by which the ABI marks the end of the stack, unless
 * the stub's frame is a frame record that needs no rows. If it were not zero, an unwinder without
 * rows would take it for the frame pointer of the payload's frame. If it led to the caller's frame,
 * libunwind would continue there with the right pc but a stack pointer that it computed itself, and
 * would then use words of the payload's frames. libunwind also asks the kernel whether memory is
 * readable, and leaves the answer in errno of a call that succeeds.
 */
uint64_t arch_call_original(uint64_t argument0, uint64_t argument1, uint64_t argument2,
			    uint64_t argument3, uint64_t function, const struct hook_call *call);

/*
 * The same for a function that may have more arguments than a hook sees: with all registers in
 * which there may be some, and a copy of `words` words (HI_ARCH_STACK_ARGUMENTS at most) of the
 * caller's stack, where the others are. It needs words->return_gadget, through which an exception
 * passes, too.
 *
 * The function finds all callee-saved registers as its caller had them (a program may have global
 * variables in them), but for the frame pointer and the one through which the gadget calls,
 * words->return_register. What it leaves in the others is stored in the call. Its result is what is
 * in the two registers of words; in vectors and on the floating-point stack it stays where it is,
 * as the payload uses neither.
 */
struct arch_words {
	uint64_t first, second;
};
struct arch_words arch_call_whole(struct hook_call *call, uint64_t function, uint64_t words);

/*
 * What the stub does next: it returns `result` to the caller, or, if `pass` is HOOK_PASS, jumps to
 * words->original with all arguments unchanged. If it is HOOK_TO_PROBE, the stub returns `result`
 * through a probe: it jumps to the function whose address is in argument[3] of the call, with
 * argument[0] to argument[2], and that function returns to the caller with `result` unchanged. If
 * it is HOOK_WHOLE, the stub returns all that arch_call_whole has brought back: `result`, the
 * second word in argument[2] of the call, and the callee-saved registers of the call.
 */
#define HOOK_PASS 1
#define HOOK_TO_PROBE UINT64_MAX
#define HOOK_WHOLE (UINT64_MAX - 1)
struct hook_outcome {
	uint64_t result;
	uint64_t pass;
};

#include "arch_inline.h"

#endif
