/* SPDX-License-Identifier: MIT */
/* Room arch/: all of the injector that knows the CPU. Start at arch.h. */

/*
 * arch.h - all that the injector knows about a CPU and its kernel ABI. Implemented in
 * arch/$(ARCH)/, chosen at link time.
 *
 * No file outside arch/ names a register, an instruction, a relocation type, or a system-call
 * number that differs between CPUs. Nothing here touches the target: registers and frames are
 * values that the callers read from it and write to it.
 */
#ifndef HI_ARCH_H
#define HI_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The values that differ between CPUs. Sizes are in bytes.
 *
 *   struct arch_regs         the general registers, and what arch_register_sets adds
 *   ARCH_RED_ZONE            below sp, that a program may use without moving sp; 0 = none
 *   ARCH_XSTATE_MAX          size of the extended state, at most
 *   ARCH_UNSAVED_HEAD        see arch_unsaved_types
 *   ARCH_UNSAVED_REASON      "", or why a thread with such state is not borrowed, for a refusal
 *   ARCH_ELF_MACHINE         EM_ number
 *   ARCH_AUDIT               AUDIT_ARCH_ number, as seccomp filters see it
 *   ARCH_USER_END            end of the address space of programs
 *   ARCH_SMALL_ABI_NAME      name of the CPU's ABI with 32-bit pointers, with its article
 *   ARCH_SHADOW_STACK_FIELD  line of /proc/PID/status that shows a shadow stack,
 *   ARCH_SHADOW_STACK_WORD   the word in it that says so,
 *   ARCH_SHADOW_STACK_OFF    the environment variable without which a program has none
 *
 *   ARCH_DWARF_BP, _SP, _PC  DWARF numbers of frame pointer, stack pointer, return address: the
 *                            registers that an unwind row can describe
 *   ARCH_KEPT                number of the other registers that a called function preserves
 *   ARCH_SIGNAL_PC_WORD      what arch_signal_word would be of pc
 *   ARCH_ENTRY_DEPTH         from sp up to the CFA at the first instruction of a function
 *   ARCH_HOOK_CFA            the frame of a hook, see arch_hook_kept
 *   ARCH_HOOK_PC
 *   ARCH_HOOK_BP
 *
 *   ARCH_STOP_ENDS_CALLS     1 = what a stop makes of the system call that it interrupts is decided
 *                            before the registers can be read, and they do not show the call
 *
 *   ARCH_GUARD_MAX           size of a guard frame, at most
 *   ARCH_GUARD_HEAD          as much of it as arch_build_return copies, at most. Where the frame
 *                            points to the extended state, a copy may do so, too
 *   ARCH_RETURN_MAX          size of what a called function returns to, at most
 *   ARCH_GADGET_MAX          no gadget is longer
 *   ARCH_CALL_MAX            no call instruction is longer
 *
 *   ARCH_SHORT_JUMP_BYTES    size of a jump that reaches ARCH_SHORT_JUMP_REACH bytes, counted from
 *   ARCH_SHORT_JUMP_REACH    its start, in either direction
 *   ARCH_JUMP_BYTES       size of a jump that reaches the gate or a relay, at most some bytes less
 *   ARCH_JUMP_REACH       than ARCH_JUMP_REACH away
 *   ARCH_LANDED_BYTES     see arch_make_landed
 *   ARCH_FAR_JUMP_BYTES      see arch_make_far_jump
 *   ARCH_PADDED_JUMP_MAX     most bytes of such a jump with prefixes; no more than ARCH_ENTRY_MAX
 *   ARCH_ENTRY_MAX           code that suffices to examine the first instruction of a function
 *   ARCH_STUB_MAX            the same of what arch_decode takes for one instruction
 *   ARCH_EXIT_BYTES          see arch_make_exit
 */
#include "arch_values.h"

/* A set of registers as PTRACE_GETREGSET knows it, and the part of struct arch_regs that it is. */
struct arch_register_set {
	int type; /* NT_ */
	size_t offset, size;
	bool is_read_only; /* never changed: it is only read */
};
const struct arch_register_set *arch_register_sets(size_t *out_count);
/*
 * The regsets of which one holds all extended state: the first that the kernel has. The list ends
 * with 0.
 */
extern const int arch_xstate_types[];
/* How much of a regset of extended state, of which the kernel says that it has so much, it is. */
size_t arch_xstate_size(const void *xstate, size_t size);
/*
 * What to set of extended state that was read as the regset `type`, and as which regset, so that
 * nothing but registers changes.
 */
struct arch_xstate_part {
	int type;
	size_t offset, size;
};
struct arch_xstate_part arch_xstate_to_set(int type, const void *xstate, size_t size);
/*
 * Regsets of more state that threads may have at times, of which none is saved. Their first
 * ARCH_UNSAVED_HEAD bytes show whether a thread has any. The list ends with 0.
 */
extern const int arch_unsaved_types[];
bool arch_has_unsaved(int type, const uint8_t head[ARCH_UNSAVED_HEAD]);

uint64_t arch_pc(const struct arch_regs *regs);
uint64_t arch_sp(const struct arch_regs *regs);
void arch_set_pc(struct arch_regs *regs, uint64_t pc);
void arch_set_sp(struct arch_regs *regs, uint64_t sp);
/*
 * The register by which the thread library finds its thread descriptor. In glibc and musl the
 * descriptor lies at the top of the thread's own stack, except for the main thread.
 */
uint64_t arch_thread_pointer(const struct arch_regs *regs);
/*
 * glibc mangles the function pointers that it stores (atexit, the jmp_buf of setjmp) with a guard
 * word. That word is a variable of its dynamic linker, or, where there is no such symbol (NULL), it
 * lies at the same offset from every thread pointer. In another C library that place holds
 * something else; then no word in memory looks like a mangled pointer.
 */
const char *arch_pointer_guard_symbol(void);
uint64_t arch_pointer_guard_at(uint64_t thread_pointer);
uint64_t arch_disguise_pointer(uint64_t pointer, uint64_t guard);
uint64_t arch_reveal_pointer(uint64_t disguised, uint64_t guard);
/* An address as it was before a function may have signed it, to return there later. */
uint64_t arch_plain_address(uint64_t address);
/* Matches the words w with (w & mask) == value. */
struct arch_pattern {
	uint64_t mask, value;
};
/*
 * Finds the first word at or after `from` that may match one of the two patterns. The result may be
 * a word that matches neither, but no matching word is skipped. Returns count if there is none.
 */
size_t arch_find_pattern(const uint64_t *word, size_t from, size_t count,
			 const struct arch_pattern pattern[2]);
/*
 * Finds the first place at or after `from`, aligned or not, where four bytes have that value.
 * Returns size if there is none.
 */
size_t arch_find_bytes(const uint8_t *byte, size_t from, size_t size, uint32_t value);
/*
 * The same for a pc-relative operand (of a relative call, a jump, or a load of an address) that
 * leads from code into [lo, lo + span). `at` is the address of code[0]. span is a power of two.
 */
size_t arch_find_operand(const uint8_t *code, size_t from, size_t size, uint64_t at, uint64_t lo,
			 uint64_t span);
/*
 * Where exactly leads the operand that arch_find_operand has found at code[found]? 0: the code that
 * was read does not show it.
 */
uint64_t arch_operand_target(const uint8_t *code, size_t size, size_t found, uint64_t at);
/*
 * The same for code that makes an address in [lo, lo + span) of constants in several instructions.
 * It may be one some kilobytes away from that range. Only a CPU has these whose instructions have
 * no room for an address. Returns size if there is none.
 */
size_t arch_find_made(const uint8_t *code, size_t from, size_t size, uint64_t at, uint64_t lo,
		      uint64_t span);
/* True if any general register, pc included, lies in [lo, hi). */
bool arch_any_register_in(const struct arch_regs *regs, uint64_t lo, uint64_t hi);
/*
 * Sets every general register, pc included, that holds `from` to `to`. Returns how many it changed.
 */
size_t arch_replace_register(struct arch_regs *regs, uint64_t from, uint64_t to);
/* DWARF register n (of .eh_frame), for the stack walker; -EINVAL for others. */
int arch_dwarf_register(const struct arch_regs *regs, int number, uint64_t *out_value);
/*
 * Index, in words, of register number `dwarf` in the ucontext of a signal frame; -1 if it is not a
 * general register.
 */
int arch_signal_word(uint64_t dwarf);
/*
 * What a call frame instruction, without operands, says about the return address: nothing, that it
 * is signed from now on, or no longer, with the CFA, or that of another way to sign it.
 * arch_plain_address makes all the same.
 */
enum arch_signing { ARCH_SIGNING_NONE, ARCH_SIGNING_BY_CFA, ARCH_SIGNING_OTHER };
enum arch_signing arch_signing(uint8_t opcode);
/* Does a called function preserve this register? */
bool arch_is_kept_by_calls(uint64_t dwarf);
/*
 * Index, from 0, among the preserved registers other than the frame and the stack pointer; -1 if it
 * is none of them.
 */
int arch_kept_index(uint64_t dwarf);
/*
 * The frame of a hook, as the stub in payload/arch builds it. The CFA lies ARCH_HOOK_CFA bytes
 * above the frame pointer. The return address lies at CFA + ARCH_HOOK_PC, the caller's frame
 * pointer at CFA + ARCH_HOOK_BP, and the caller's value of the preserved register with an index at
 * CFA + arch_hook_kept(index).
 */
int64_t arch_hook_kept(unsigned index);
/*
 * Some linkers describe the entries of a .plt, for lazy binding, by one CFA expression for all of
 * them, which depends on pc. Returns the number in it that hi_unwind_row.cfa of HI_UNWIND_PLT
 * holds; -1: the expression is not of that form. arch_plt_cfa of payload/arch evaluates it.
 */
int arch_plt_boundary(const uint8_t *expression, size_t size);

/*
 * How code gets back sp after a call that it made on another stack. Numbers are of words from sp
 * when the call has returned.
 */
struct arch_stack_return {
	enum {
		ARCH_STACK_SPILLED, /* sp is the word `distance` */
		/* sp is the end of another stack, in the object that `owner` points to, less
		 * `distance` */
		ARCH_STACK_OTHER,
	} kind;
	uint8_t distance_word, owner_word;
};
/*
 * Whether `after` is the offset of such code, right after a call. The end of a stack is the second
 * word of its owner, as in Go's runtime.
 */
bool arch_is_stack_return(const uint8_t *code, size_t size, size_t after,
			  struct arch_stack_return *out_back);

/* True if the thread is not in a 32-bit or foreign-ABI mode at this stop. */
bool arch_is_native(const struct arch_regs *regs);

/* ---- the guard frame (guard.c) --------------------------------------------------------------- */

/* The complete context of a thread, as saved at an event stop. */
struct arch_context {
	struct arch_regs regs;
	void *xstate; /* a regset of arch_xstate_types */
	size_t xstate_size;
	uint64_t sigmask;
};

/*
 * A signal frame of the saved context, as the kernel would have written it. A thread that is
 * released in the `resting` state, at any moment, enters rt_sigreturn and is again in the saved
 * context. The same holds for a thread that makes a system call begun from `resting`.
 */
struct arch_guard {
	uint64_t at; /* where the frame must lie: below the red zone */
	size_t size;
	struct arch_regs resting;
	_Alignas(64) uint8_t frame[ARCH_GUARD_MAX];
};
/* Code of the target that makes the rt_sigreturn system call. */
struct arch_sigreturn {
	uint64_t code;
	/*
	 * 0, or code that is executed first: it takes the number of the call from the stack and
	 * returns to `code`, which then is any system-call instruction
	 */
	uint64_t load;
};
static inline uint64_t arch_sigreturn_begin(const struct arch_sigreturn *sigreturn)
{
	return sigreturn->load ? sigreturn->load : sigreturn->code;
}
/* -E2BIG: the extended state is larger than the injector knows. */
int arch_build_guard(const struct arch_context *context, const struct arch_sigreturn *sigreturn,
		     struct arch_guard *out_guard);

/* The system call that a thread was blocked in before it was stopped: see ARCH_STOP_ENDS_CALLS. */
struct arch_call {
	bool is_known;
	long number;
	uint64_t first_argument, sp, pc; /* pc: after the instruction */
	uint64_t waits; /* how often it had waited until then, this time included */
};

/*
 * For a stop that interrupted a system call which would now fail with EINTR although no signal
 * handler runs. Changes regs so that the kernel restarts the call when the thread continues, unless
 * a signal handler is to run then: the application does not notice. Changes nothing where the
 * kernel restarts the call by itself. Applies only to calls that can be repeated. Returns true if
 * it changed regs.
 */
bool arch_rewind_interrupted(struct arch_regs *regs, const struct arch_call *before);
/*
 * For a thread that is about to begin its call anew, and will run a signal handler before that,
 * where the kernel does not ask any more whether there is one (ARCH_STOP_ENDS_CALLS). A call that
 * every handler ends fails with EINTR then, as it would have without the stop: otherwise a program
 * that waits for its handler would wait for ever. Returns true if it changed regs.
 */
bool arch_end_rewound(struct arch_regs *regs, const struct arch_call *before);
/*
 * For a stop after which the kernel would go on with a call that has a timeout (a sleep) by another
 * call, with the time that is left, but forgets that once the registers have been changed. True if
 * the thread has to be run to the entry of that call before it is borrowed; arch_take_restart then
 * makes the registers of the stop those of a thread that is about to make it.
 */
bool arch_needs_restart(const struct arch_regs *regs, const struct arch_call *before);
void arch_take_restart(struct arch_regs *regs, const struct arch_regs *at_entry);
/*
 * Makes the restart in the registers at once, for a frame that rt_sigreturn restores: after
 * rt_sigreturn the kernel no longer restarts the call.
 */
void arch_resolve_restart(struct arch_regs *regs);

/* ---- calls ----------------------------------------------------------------------------------- */

/*
 * Turns the guard's resting registers into the start of system call `number` at the gadget (the
 * system-call instruction and a return).
 */
void arch_begin_syscall(struct arch_regs *regs, uint64_t gadget, long number,
			const uint64_t argument[6]);
/*
 * Makes the thread run `code` of the target before it enters the guard frame at `frame`: turns the
 * resting registers into those that begin so. code 0: back to the guard frame alone. A word to be
 * written to the target first is out_word->value, at the address out_word->at; 0 = none.
 */
struct arch_word {
	uint64_t at, value;
};
void arch_rest_through(struct arch_regs *resting, uint64_t frame,
		       const struct arch_sigreturn *sigreturn, uint64_t code,
		       struct arch_word *out_word);
/*
 * What a called function returns to: code that is executed one after the other, and at its end a
 * copy of the guard frame's head. All of it has to be written to the target before the call.
 */
struct arch_return {
	uint64_t at;          /* where it must lie; sp at the first instruction of the function */
	uint64_t returned_sp; /* sp at the first system call after the return: ours */
	size_t size;
	uint8_t byte[ARCH_RETURN_MAX];
};
/*
 * stack_top: 16-byte aligned end of the stack for the call. code: two addresses, 0 = none of that:
 * the gadget of a system call, and code as in arch_rest_through.
 */
void arch_build_return(uint64_t stack_top, const uint8_t head[ARCH_GUARD_HEAD],
		       const struct arch_sigreturn *sigreturn, const uint64_t code[2],
		       struct arch_return *out_return);
/*
 * Turns the guard's resting registers into the start of a call of `function` that returns as
 * arch_build_return has laid out. stack: arch_return.at.
 */
void arch_begin_call(struct arch_regs *regs, uint64_t function, const uint64_t argument[4],
		     uint64_t stack);
/* The result of a system call, at its exit stop. */
uint64_t arch_result(const struct arch_regs *regs);
/* At a system-call stop: the number of the requested call, in full width. */
uint64_t arch_syscall_number(const struct arch_regs *regs);
/*
 * The result of a called function, at the stop of the first system call after its return: see
 * arch_build_return.
 */
uint64_t arch_returned(const struct arch_regs *regs);

/* Find gadgets in a copy of executable bytes. Return the offset, or -1. */
ssize_t arch_find_syscall_ret(const uint8_t *code, size_t size);
ssize_t arch_find_sigreturn(const uint8_t *code, size_t size);
/* Code for arch_sigreturn.load. */
ssize_t arch_find_load(const uint8_t *code, size_t size);
/*
 * Finds the first call through one of the ARCH_KEPT registers at or after `from`, whatever
 * instruction its bytes are a part of. Returns size if there is none.
 */
size_t arch_find_kept_call(const uint8_t *code, size_t from, size_t size);
/* Through which, of a call that arch_find_kept_call has found: as arch_kept_index counts them. */
unsigned arch_kept_call_register(const uint8_t *code);
/* The lower, the less do programs have global variables in that register; 0 to ARCH_KEPT - 1. */
unsigned arch_kept_rank(unsigned kept);

/*
 * Can the code that ends at before[ARCH_CALL_MAX] be a call instruction, so that the address there
 * can be a return address?
 */
bool arch_ends_in_call(const uint8_t before[ARCH_CALL_MAX]);

/* How control continues after one instruction. */
enum arch_flow {
	ARCH_FLOW_NEXT,
	ARCH_FLOW_BRANCH, /* to target, or to the next instruction */
	ARCH_FLOW_JUMP,   /* to target; 0 = unknown */
	ARCH_FLOW_CALL,   /* of target; 0 = unknown */
	ARCH_FLOW_RETURN,
	ARCH_FLOW_STOP, /* never continues */
};

enum arch_sp_effect {
	ARCH_SP_MOVES,     /* sp changes by sp_change, perhaps 0 */
	ARCH_SP_LOST,      /* sp becomes something unknown */
	ARCH_SP_FROM_BP,   /* becomes bp + sp_change */
	ARCH_SP_LEAVE,     /* becomes bp + 8, and bp is popped */
	ARCH_SP_TO_BP,     /* bp becomes sp + sp_change; sp stays */
	ARCH_SP_PUSHES_BP, /* pushes bp; sp changes by sp_change */
	ARCH_SP_POPS_BP,
	ARCH_SP_NOT_BP, /* bp becomes something else; sp stays */
	/* bp becomes 0: if it was not saved before, this is the outermost function */
	ARCH_SP_ENDS,
};

/* What an instruction makes of the register in which functions return. */
enum arch_result {
	ARCH_RESULT_OTHER, /* anything, as far as is known */
	ARCH_RESULT_KEPT,
	ARCH_RESULT_FIXED, /* a constant, or the address of something in the object */
};

/*
 * What an instruction does with a register of the caller, where it may move sp as well: store it on
 * the stack, or take it from there, at sp (before the instruction) + at. Only a CPU has these whose
 * calls leave the return address in a register.
 */
struct arch_word_of {
	enum { ARCH_WORD_NONE, ARCH_WORD_STORED, ARCH_WORD_LOADED, ARCH_WORD_LOST } kind;
	int32_t at;
};

struct arch_instruction {
	uint8_t size;
	enum arch_flow flow;
	enum arch_sp_effect effect;
	int32_t sp_change;
	/* bp_word is never LOST: see effect. link: the register of the return address */
	struct arch_word_of bp_word, link_word;
	uint64_t target;
	uint64_t address; /* pc-relative address that it loads; 0 = none */
	uint64_t slot; /* of a call or a jump: the word that holds its target; 0 = no fixed one */
	/*
	 * offset in it of the 4-byte displacement from its end to its operand; 0 = no such operand
	 */
	uint8_t pc_relative_at;
	bool is_padding;
	enum arch_result result;
};
/* Decodes the instruction at code, whose address is pc. False: the decoder does not know it. */
bool arch_decode(const uint8_t *code, size_t room, uint64_t pc,
		 struct arch_instruction *out_instruction);

/* What an instruction uses of what its function's caller has. */
enum arch_memory {
	ARCH_MEMORY_NONE,
	ARCH_MEMORY_FIXED, /* relative to no register, but perhaps indexed */
	ARCH_MEMORY_ACCESS,
	ARCH_MEMORY_ADDRESS, /* only the operand's address is taken */
};
struct arch_operands {
	/*
	 * callee-saved registers, as bits by arch_kept_index, and bit ARCH_KEPT for the frame
	 * pointer: those that it reads or writes, and the one that it only stores on the stack or
	 * takes from there
	 */
	uint16_t kept_used, kept_on_stack;
	enum arch_memory memory;
	uint8_t bytes; /* of the operand, at most */
	uint64_t base; /* the operand is at this register (DWARF number) + displacement, */
	int32_t displacement;
	bool is_indexed; /* and a multiple of another register */
	/*
	 * it may ask how many arguments are in vectors, as functions with a variable number of
	 * arguments do
	 */
	bool asks_for_vectors;
	/* it may load an element of the table by which a switch jumps */
	bool loads_element;
	/*
	 * Of the register in which calls leave the return address, if there is one: its value is
	 * read other than to return, or to store it on the stack; it is stored on the stack, or
	 * taken from there; or the instruction is one for return addresses that are looked at.
	 */
	bool reads_link, has_link_on_stack, strips_link;
};
/* False: the decoder does not know it, as arch_decode. */
bool arch_decode_operands(const uint8_t *code, size_t room, struct arch_operands *out_operands);

/* ---- entries of functions (entry.c) ---------------------------------------------------------- */

/*
 * A jump replaces the first instruction of a function while threads run through it. No thread can
 * be inside that instruction, and the bytes of the jump are stored at once. The replaced
 * instruction is executed elsewhere.
 */
/*
 * What a function may begin with: an instruction of which there has to be one where an indirect
 * call leads. It stays, and the one after it counts as the function's first. A thread that has
 * executed it is in the function, wherever that goes on. pc is the function's address.
 */
struct arch_landing {
	uint8_t size; /* bytes; 0 = the function begins with none */
	bool signs; /* it signs the return address, too, so that the jump leads to arch_make_landed
		     */
};
struct arch_landing arch_landing(const uint8_t code[ARCH_ENTRY_MAX]);
/*
 * Makes the code that takes back what the function's landing pad has done, so that its caller might
 * just have called. What comes after it is another call's beginning.
 */
void arch_make_landed(const uint8_t code[ARCH_ENTRY_MAX], uint8_t *out);
/* Size in bytes of the function's first instruction; 0 if it cannot be moved. */
size_t arch_entry_size(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc);
/*
 * Address of the word that the function at pc loads and returns, if it does nothing else; 0 for any
 * other function.
 */
uint64_t arch_returned_word(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc);
/* Where the first instruction leads if it is a jump that names its target; otherwise 0. */
uint64_t arch_entry_target(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc);
/*
 * Makes code, to be placed at `at`, that does what the function at pc does although its first
 * instruction was replaced, for a call of it. False: the two lie too far apart.
 */
bool arch_make_exit(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc, uint64_t at,
		    uint8_t out[ARCH_EXIT_BYTES]);
/*
 * Makes a jump of `size` bytes: ARCH_SHORT_JUMP_BYTES, ARCH_JUMP_BYTES, or more up to
 * ARCH_PADDED_JUMP_MAX, with prefixes in front that change nothing. False: `to` is too far away.
 */
bool arch_make_jump(uint8_t *out, size_t size, uint64_t from, uint64_t to);
/* Makes a jump that reaches any address. It changes no register. */
void arch_make_far_jump(uint8_t out[ARCH_FAR_JUMP_BYTES], uint64_t to);
/*
 * The targets [out_lo, out_hi) of a jump of jump_size bytes, no fewer than ARCH_JUMP_BYTES, at pc
 * of which only the first `size` bytes are written; the remaining bytes are those of code. False:
 * there is no such target.
 */
bool arch_punned_reach(const uint8_t code[ARCH_ENTRY_MAX], size_t size, size_t jump_size,
		       uint64_t pc, uint64_t *out_lo, uint64_t *out_hi);
/* Is this byte a breakpoint instruction, so that somebody has put a breakpoint here? */
bool arch_is_breakpoint(uint8_t byte);
/* Fills code with breakpoint instructions: a thread that reaches them gets SIGTRAP. */
void arch_fill(uint8_t *code, size_t size);

/*
 * How well a thread is suited for borrowing, by the system call that it is in (-1 = in none):
 * higher is better, negative = never borrow it.
 */
int arch_borrow_score(long number);

/*
 * A call that a stop ends early after a part of the work: it returns a short count. That cannot be
 * hidden, and programs do not expect it of a blocking descriptor.
 */
bool arch_is_transfer(long number, const uint64_t argument[6]);

/*
 * What a system call may do to its caller's memory while it is in progress. Exec and exit count as
 * leaving the memory as it is: they end its use.
 */
enum arch_call_effect {
	ARCH_CALL_READS,  /* at most reads names and data */
	ARCH_CALL_WRITES, /* writes to it */
	ARCH_CALL_MAPS,   /* changes mappings or creates a thread; also any unknown call */
};
enum arch_call_effect arch_call_effect(long number);
/*
 * Does this call create a process or thread? *out_flags are its clone flags. If *out_flags_at is
 * not 0, the flags are not known: they lie in the target at that address.
 */
bool arch_is_clone(long number, const uint64_t argument[6], uint64_t *out_flags,
		   uint64_t *out_flags_at);

/* Is this the type of a relocation that can refer to a function? */
bool arch_is_slot_relocation(unsigned type, bool *out_is_jump_slot, bool *out_is_absolute);

/*
 * The cycle counter of this CPU, and its frequency in ticks per second. The frequency is calibrated
 * once, over at least 20 ms, to some millionths. Calibration begins with arch_cycles_calibrate, so
 * that a caller of it need not wait later; without that call it begins with the first
 * arch_cycles_per_second.
 */
uint64_t arch_cycles(void);
void arch_cycles_calibrate(void);
uint64_t arch_cycles_per_second(void);
/*
 * True if the counters of all CPUs agree: the kernel has checked that and uses them as its own
 * clock.
 */
bool arch_cycles_agree(void);

/*
 * True if the CPU has a prefetch instruction for a cache line that the program is going to write.
 */
bool arch_has_write_prefetch(void);

/*
 * True if the CPU has the instruction with which the payload reads the clock faster (payload/arch).
 */
bool arch_has_fast_clock(void);
/* The cycle counter and CLOCK_MONOTONIC at one moment. */
struct arch_moment {
	uint64_t cycles, ns;
};
struct arch_moment arch_moment_now(void);

#endif
