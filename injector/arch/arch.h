/* SPDX-License-Identifier: MIT */
/*
 * arch.h - all the injector knows about a CPU and its kernel ABI; implemented in arch/$(ARCH)/, chosen at link time.
 *
 * No file outside arch/ names a register, an instruction, a system-call number that differs between CPUs, or a relocation type.
 * Nothing here touches the target: registers and frames are values that others read and write.
 */
#ifndef HI_ARCH_H
#define HI_ARCH_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct arch_regs {
	struct user_regs_struct user; /* NT_PRSTATUS */
};

#define ARCH_RED_ZONE 128
#define ARCH_NT_XSTATE NT_X86_XSTATE /* register set of the extended state */
#define ARCH_XSTATE_MAX 16384        /* AMX state included */
#define ARCH_ELF_MACHINE EM_X86_64

uint64_t arch_pc(const struct arch_regs *regs);
uint64_t arch_sp(const struct arch_regs *regs);
void arch_set_pc(struct arch_regs *regs, uint64_t pc);
void arch_set_sp(struct arch_regs *regs, uint64_t sp);
/* What the thread library finds its descriptor by; in glibc and musl that lies at the top of the thread's own stack, the main thread's apart. */
uint64_t arch_thread_pointer(const struct arch_regs *regs);
/*
 * The function pointers that glibc keeps for later (atexit, the jmp_buf of setjmp) are disguised with a word that lies at the same offset from every thread
 * pointer. Where that word is another library's something else, nothing looks like a disguised pointer.
 */
uint64_t arch_pointer_guard_at(uint64_t thread_pointer);
uint64_t arch_disguise_pointer(uint64_t pointer, uint64_t guard);
uint64_t arch_reveal_pointer(uint64_t disguised, uint64_t guard);
/* Words that have these bits in common. */
struct arch_pattern {
	uint64_t mask, value;
};
/* The first word at or after `from` of which one of two patterns may hold, and for sure all of which one does; count: there is none. */
size_t arch_find_pattern(const uint64_t *word, size_t from, size_t count, const struct arch_pattern pattern[2]);
/* The first place at or after `from`, aligned or not, of four bytes with that value; size: there is none. */
size_t arch_find_bytes(const uint8_t *byte, size_t from, size_t size, uint32_t value);
/*
 * The same of an operand that leads from code, which lies at the address `at`, into [lo, lo + span): a relative call, jump, or load of an address. span is a
 * power of two.
 */
size_t arch_find_operand(const uint8_t *code, size_t from, size_t size, uint64_t at, uint64_t lo, uint64_t span);
/* True if any general register, pc included, lies in [lo, hi). */
bool arch_any_register_in(const struct arch_regs *regs, uint64_t lo, uint64_t hi);
/* Changes every general register, pc included, that holds `from` to `to`; how many did. */
size_t arch_replace_register(struct arch_regs *regs, uint64_t from, uint64_t to);
/* DWARF register n (of .eh_frame), for the stack walker; -EINVAL for others. */
int arch_dwarf_register(const struct arch_regs *regs, int number, uint64_t *out_value);
/* Those that an unwind row can speak of: frame pointer, stack pointer, return address. */
#define ARCH_DWARF_BP 6
#define ARCH_DWARF_SP 7
#define ARCH_DWARF_PC 16
/* Where register number `dwarf` lies in the ucontext of a signal frame, in words; -1: it is none of the general ones. */
int arch_signal_word(uint64_t dwarf);
/* Is it one that a called function leaves as it was? */
bool arch_is_kept_by_calls(uint64_t dwarf);
/* Those of them that are neither frame nor stack pointer, counted from 0; -1: it is none. */
#define ARCH_KEPT 5
int arch_kept_index(uint64_t dwarf);
/*
 * The frame of a hook, as the stub of payload/arch makes it: the CFA lies so far above the frame pointer, and at the CFA + offset the return address, and what
 * its caller had in the frame pointer, and in the register of an index.
 */
#define ARCH_HOOK_CFA 16
#define ARCH_HOOK_PC (-8)
#define ARCH_HOOK_BP (-16)
int64_t arch_hook_kept(unsigned index);

/* Not in a 32-bit or foreign-ABI mode at this stop. */
bool arch_is_native(const struct arch_regs *regs);

/* ---- the guard frame (guard.c) ------------------------------------------------------------------------------------------- */

/* All that makes up a thread's context, as saved at an event stop. */
struct arch_context {
	struct arch_regs regs;
	void *xstate; /* ARCH_NT_XSTATE */
	size_t xstate_size;
	uint64_t sigmask;
};

#define ARCH_GUARD_MAX (ARCH_XSTATE_MAX + 1024)
#define ARCH_GUARD_HEAD 440 /* the frame without the extended state, to which it points: a copy of it works at any address */

/*
 * A signal frame of the saved context, as the kernel would have written it. A thread in `resting` state that is let go at any moment
 * enters rt_sigreturn and is what it was. So is one that makes a system call begun from `resting`.
 */
struct arch_guard {
	uint64_t at; /* where the frame must lie: below the red zone */
	size_t size;
	struct arch_regs resting;
	_Alignas(64) uint8_t frame[ARCH_GUARD_MAX];
};
/* sigreturn: code that makes the rt_sigreturn system call. -E2BIG: extended state larger than we know. */
int arch_build_guard(const struct arch_context *context, uint64_t sigreturn, struct arch_guard *out_guard);

/*
 * The stop broke off a system call, which is to fail with EINTR although no signal handler runs. Changes regs so that the kernel restarts it if, at the
 * moment when the thread goes on, there is none to run: the application sees nothing. (Where the kernel restarts by itself, nothing is changed.) Only for
 * calls that can be repeated. Returns true if regs were changed.
 */
bool arch_rewind_interrupted(struct arch_regs *regs);
/* The same resolved at once, for a frame that rt_sigreturn restores: there the kernel does no restart any more. */
void arch_resolve_restart(struct arch_regs *regs);

/* ---- calls ------------------------------------------------------------------------------------------------------------------- */

/* From the guard's resting registers, makes the start of system call number at the gadget (`syscall; ret`). */
void arch_begin_syscall(struct arch_regs *regs, uint64_t gadget, long number, const uint64_t argument[6]);
/* From the guard's resting registers, makes the start of a call of function with sp at stack, where its return address lies already. */
void arch_begin_call(struct arch_regs *regs, uint64_t function, const uint64_t argument[4], uint64_t stack);
/* Result of a system call at its exit stop. */
uint64_t arch_result(const struct arch_regs *regs);
/* At a system-call stop: the number asked for, in full width. */
uint64_t arch_syscall_number(const struct arch_regs *regs);

/* Finds gadgets in a copy of executable bytes; offset, or -1. */
ssize_t arch_find_syscall_ret(const uint8_t *code, size_t size);
ssize_t arch_find_sigreturn(const uint8_t *code, size_t size);
/* The first call by one of the ARCH_KEPT registers at or after `from`, whatever instruction it is a part of; size: there is none. */
size_t arch_find_kept_call(const uint8_t *code, size_t from, size_t size);
#define ARCH_GADGET_MAX 16 /* no gadget is longer */

/* Can the code that ends at before[ARCH_CALL_MAX] be a call, so that it is one that returns there? */
#define ARCH_CALL_MAX 8
bool arch_ends_in_call(const uint8_t before[ARCH_CALL_MAX]);

/* What one instruction does to the way out of its function. */
enum arch_flow {
	ARCH_FLOW_NEXT,
	ARCH_FLOW_BRANCH, /* to target or on */
	ARCH_FLOW_JUMP,   /* to target; 0 = who knows where */
	ARCH_FLOW_CALL,   /* of target; 0 = who knows what */
	ARCH_FLOW_RETURN,
	ARCH_FLOW_STOP, /* never passes */
};

enum arch_sp_effect {
	ARCH_SP_MOVES,     /* sp changes by sp_change, perhaps 0 */
	ARCH_SP_LOST,      /* to who knows what */
	ARCH_SP_FROM_BP,   /* becomes bp + sp_change */
	ARCH_SP_LEAVE,     /* becomes bp + 8, and bp is popped */
	ARCH_SP_TO_BP,     /* bp becomes sp */
	ARCH_SP_PUSHES_BP, /* and changes by sp_change */
	ARCH_SP_POPS_BP,
	ARCH_SP_NOT_BP, /* bp becomes something else; sp stays */
	ARCH_SP_ENDS,   /* bp becomes 0: where it was not saved before, this is the outermost function */
};

struct arch_instruction {
	uint8_t size;
	enum arch_flow flow;
	enum arch_sp_effect effect;
	int32_t sp_change;
	uint64_t target;
	uint64_t address;       /* whose address it takes, relative to pc; 0 = none */
	uint8_t pc_relative_at; /* where in it four bytes say how far from its end its operand lies; 0 = it has no such operand */
	bool is_padding;
};
/* The instruction at code, whose address is pc. False: none that we know. */
bool arch_decode(const uint8_t *code, size_t room, uint64_t pc, struct arch_instruction *out_instruction);

/* ---- entries of functions (entry.c) -------------------------------------------------------------------------------------------- */

/*
 * The first instruction of a function is replaced by a jump, while threads run through it: no thread can stand inside of it, and the jump's bytes are stored at
 * once. What was replaced is executed elsewhere. A jump of ARCH_SHORT_JUMP_BYTES leads some hundred bytes away, one of ARCH_JUMP_BYTES two gigabytes.
 */
#define ARCH_SHORT_JUMP_BYTES 2u
#define ARCH_SHORT_JUMP_REACH 126 /* of its start, in either direction */
#define ARCH_JUMP_BYTES 5u
#define ARCH_ENTRY_MAX 16u /* bytes of code that are enough to judge it by */
#define ARCH_EXIT_BYTES 16u
/* How many bytes its first instruction has; 0: it cannot be moved. */
size_t arch_entry_size(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc);
/* The address of the word that the function at pc returns, if it does nothing else; 0: it is another function. */
uint64_t arch_returned_word(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc);
/* Where the first instruction leads if it is a jump and nothing else; 0: it is none. */
uint64_t arch_entry_target(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc);
/* Code to lie at `at` that does what the function at pc does, whose first instruction was replaced. False: the two lie too far apart. */
bool arch_make_exit(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc, uint64_t at, uint8_t out[ARCH_EXIT_BYTES]);
/* A jump of `size` bytes, one of the two above. False: too far. */
bool arch_make_jump(uint8_t *out, size_t size, uint64_t from, uint64_t to);
#define ARCH_USER_END 0x7ffffffff000ull /* of the address space of programs */
/*
 * Where a jump of ARCH_JUMP_BYTES at pc may lead of which only the first `size` bytes are written, and the others are those of code: [out_lo, out_hi). False:
 * nowhere.
 */
bool arch_punned_reach(const uint8_t code[ARCH_ENTRY_MAX], size_t size, uint64_t pc, uint64_t *out_lo, uint64_t *out_hi);
/* Has somebody put a breakpoint on the instruction that begins with this byte? */
bool arch_is_breakpoint(uint8_t byte);
/* Code that ends whoever comes there. */
void arch_fill(uint8_t *code, size_t size);

/* Score of a thread for borrowing by the system call it is in, -1 = in none: higher is better, negative = never. */
int arch_borrow_score(long number);

/*
 * A call that a stop ends early with a part of the work done: it returns a short count, which cannot be hidden, and which programs do not expect of a
 * descriptor that blocks.
 */
bool arch_is_transfer(long number, const uint64_t argument[6]);

/* What a call may do to its caller's memory while it is under way. Exec and exit leave it as it is: they end its use. */
enum arch_call_effect {
	ARCH_CALL_READS,  /* nothing: names and data are read at most */
	ARCH_CALL_WRITES, /* writes to it */
	ARCH_CALL_MAPS,   /* changes what is mapped, or bears a thread; or is none that we know */
};
enum arch_call_effect arch_call_effect(long number);
/* Does this call begin a process or thread, as vfork does or with flags; at, if not 0: where the flags lie, *out_flags says what they are otherwise. */
bool arch_is_clone(long number, const uint64_t argument[6], uint64_t *out_flags, uint64_t *out_flags_at);

/* Relocation types that lead to functions. */
bool arch_is_slot_relocation(unsigned type, bool *out_is_jump_slot, bool *out_is_absolute);

/*
 * Cycle counter of this CPU, and how many ticks it makes a second: calibrated once, over 20 ms at least, to some millionths. They begin with
 * arch_cycles_calibrate, so that who calls it early need not wait; without it, with the first question.
 */
uint64_t arch_cycles(void);
void arch_cycles_calibrate(void);
uint64_t arch_cycles_per_second(void);
/* Whether the counters of all CPUs agree: the kernel has looked, and goes by them itself. */
bool arch_cycles_agree(void);

/* Whether a program may ask for a line of memory that it is going to write. */
bool arch_has_write_prefetch(void);

/* Whether it has the instruction by which the payload reads the clock faster (payload/arch). */
bool arch_has_fast_clock(void);
/* The cycle counter and CLOCK_MONOTONIC at one moment. */
struct arch_moment {
	uint64_t cycles, ns;
};
struct arch_moment arch_moment_now(void);

#endif
