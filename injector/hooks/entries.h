/* SPDX-License-Identifier: MIT */
/*
 * entries.h - the allocator's functions, hooked at their entry: the one place that all calls pass,
 * regardless of which code stored the function's address, and when.
 *
 * A jump replaces a function's first instruction. If that instruction is at least five bytes long,
 * the jump leads directly to the gate. If it is shorter, the jump leads to a relay, a second jump
 * that leads to the gate. The relay lies
 *   - in the padding right before the function, reached by a short jump of two bytes. No thread
 *     executes that padding; and once the padding is restored, a thread that was still at the relay
 *     runs through it into the function; or, where there is no room,
 *   - in a page of the injector's own, reached by a long jump whose last bytes are the bytes that
 *     follow the first instruction anyway; they stay as they are. So these bytes determine where
 *     that page must lie, except for the bytes that the first instruction leaves free ("instruction
 *     punning"). With a prefix in front of the jump these are other bytes, and another page.
 *
 * Only bytes of the first instruction change, and no other instruction begins in them. So a thread
 * executes whole instructions wherever it is when they change. How they are changed: code_swap.h.
 * Where a function begins with a landing pad, to which alone indirect calls may lead, that stays,
 * and the instruction after it is replaced (struct arch_landing). No code may jump to that one.
 *
 * Not hooked here, but by their slots: a function whose first instruction cannot be moved; one
 * without a place for a relay; code in memory that differs from its file (a breakpoint, a uprobe,
 * another patch, text relocations), anywhere in its page; code that the program may write to; code
 * that is not privately mapped from its file. Nothing here writes.
 */
#ifndef HI_ENTRIES_H
#define HI_ENTRIES_H

#include "target_allocators.h"
#include "arch.h"

#define ENTRY_WORDS_MAX 4u

/* Why a function is not hooked at its entry. */
enum entry_obstacle {
	ENTRY_NO_OBSTACLE,
	ENTRY_MAY_UNLOAD, /* its object may be unloaded */
	ENTRY_NO_FILE,    /* its object's file cannot be read */
	/* its page is not its file's: a breakpoint, a probe, another patch; or it is shared */
	ENTRY_CHANGED,
	/* the program may write to it, and what it writes while attached would be lost */
	ENTRY_WRITABLE,
	ENTRY_UNMOVABLE, /* its first instruction cannot be executed elsewhere */
	/*
	 * there is no place for a relay, or none from which the gate is in reach; or too much code
	 * lies between it and other functions
	 */
	ENTRY_NO_PLACE,
	/* its callers may count on registers that it leaves alone (calls_out.h) */
	ENTRY_REGISTERS,
};

/* Does the function call another one that is hooked? nesting.h finds it out. */
enum entry_nesting {
	ENTRY_INNERMOST, /* no; or only by a call from code that is in nested_from */
	ENTRY_NULL,      /* realloc, which for a block of NULL jumps to malloc's entry */
	ENTRY_NESTS,     /* perhaps, in a way that only an enclosing hook scope can detect */
};

enum entry_relay {
	ENTRY_DIRECT,   /* no relay is needed */
	ENTRY_IN_GAP,   /* right before the function */
	ENTRY_FAR_AWAY, /* in a page that must be mapped */
};

struct entry {
	remote_addr at;               /* address of the function; 0 = it is not hooked here */
	remote_addr jump_at;          /* of the jump: behind a landing pad, or the same */
	uint8_t code[ARCH_ENTRY_MAX]; /* its first bytes */
	/* size of the instruction there, or of a jump if that is smaller */
	uint8_t size;
	uint8_t jump_size; /* size of the jump there; what is beyond `size` are the bytes of `code`
			    */
	enum entry_relay by;
	remote_addr relay; /* address of the relay, a jump of ARCH_JUMP_BYTES */
	/* where the function or its relay leads to if the gate is out of reach (near_pages.h) */
	remote_addr cell;
};

/* Arrays are by hook (target_allocators.h). */
#define ENTRY_NOT_COVERED HOOKS_MAX
struct entries {
	struct entry entry[HOOKS_MAX];
	/*
	 * all calls of the function go through the entry of this one: it is the same function, or
	 * jumps there at once
	 */
	unsigned covered_by[HOOKS_MAX];
	enum entry_obstacle obstacle[HOOKS_MAX];
	/*
	 * not hooked at its entry, but it calls or jumps to a function that is: nesting.h finds it
	 * out
	 */
	bool is_seen_inside[HOOKS_MAX];
	enum entry_nesting nesting[HOOKS_MAX]; /* also of functions hooked by slots */
	/* code of functions, and the hook of each; unused elements have no hi */
	struct {
		remote_addr lo, hi;
		unsigned hook;
	} nested_from[HI_NESTED_FROM_MAX];
};

/* Clears everything: no function is hooked at its entry, and nothing is known. */
void entries_clear(struct entries *entries);
/* Drops all entries: no function is hooked at its entry after all. */
void entries_drop_all(struct entries *entries);
/* Number of functions that are hooked at their entry. */
size_t entries_count(const struct entries *entries);
/*
 * Drops one entry: this function is not hooked at its entry after all. Nothing that it calls is
 * nested any more, if it is not hooked by slots either.
 */
void entries_drop(struct entries *entries, unsigned hook);

/*
 * Drops entries beyond the first `most` functions that need a gate entry: those hooked at their
 * entry, and those of the first allocator that are left to slots, which come first. True: some were
 * dropped.
 */
bool entries_keep_first(const struct allocators *allocators, struct entries *entries, size_t most);

/* True if the function is hooked at an entry, so that its slots need no change. */
static inline bool entries_have(const struct entries *entries, unsigned hook)
{
	const unsigned by = entries->covered_by[hook];

	return entries->entry[hook].at || (by != ENTRY_NOT_COVERED && entries->entry[by].at);
}

/* The code that the jump replaces. */
static inline const uint8_t *entry_replaced(const struct entry *entry)
{
	return entry->code + (entry->jump_at - entry->at);
}

/* A word of the target that must change so that the function's calls lead to the gate. */
struct entry_word {
	remote_addr at;
	uint64_t old_value, new_value;
};
/*
 * Finds the words that make the entry lead to `gate`. -ERANGE: the gate is too far away. -EFAULT:
 * the code cannot be read. -EBUSY: the code has changed.
 */
must_check int entry_words(const struct entry *entry, remote_addr gate, const struct memory *memory,
			   struct entry_word out_words[ENTRY_WORDS_MAX], size_t *out_count);

#endif
