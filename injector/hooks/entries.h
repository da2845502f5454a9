/* SPDX-License-Identifier: MIT */
/*
 * entries.h - the allocator's functions, hooked where they begin: the one place that all calls pass, whoever kept their address, and since when.
 *
 * A jump takes the place of a function's first instruction. Where that is five bytes long or more, the jump leads to the gate by itself. Where it is
 * shorter, it leads to a relay, a second jump that goes on to the gate:
 *   - in the filling right before the function, by a short jump of two bytes. Nobody executes that filling; and when it is there again, who still
 *     stood at the relay runs through it, into the function; or, where there is no room,
 *   - in a page of our own, by a long jump whose last bytes are those that stand behind the first instruction anyway, and stay as they are. So they
 *     say, but for the bytes that the first instruction leaves free, where that page has to lie ("instruction punning").
 * Only bytes of the first instruction change, and no other instruction begins in them: wherever a thread is when they change, it goes on with whole
 * instructions. How they are changed: code_swap.h.
 *
 * Refused, so that slots have to do: a first instruction that cannot be moved; no place for a relay; code in memory that is not what the file
 * has there (a breakpoint, a uprobe, another patch); code that is not privately mapped from its file. Nothing here writes.
 */
#ifndef HI_ENTRIES_H
#define HI_ENTRIES_H

#include "arch.h"
#include "slots.h"

#define ENTRY_WORDS_MAX 4u

/* Does the function reach another one that is hooked? What is found out by nesting.h. */
enum entry_nesting {
	ENTRY_INNERMOST, /* no; or by a call from code that is in nested_from */
	ENTRY_NULL,      /* realloc, which jumps to malloc's entry for a block of NULL */
	ENTRY_NESTS,     /* perhaps, in a way that only a visit around it can know of */
};

enum entry_relay {
	ENTRY_DIRECT,   /* none is needed */
	ENTRY_IN_GAP,   /* right before the function */
	ENTRY_FAR_AWAY, /* in a page that is to be mapped */
};

struct entry {
	remote_addr at;               /* of the function; 0 = it is not hooked here */
	uint8_t code[ARCH_ENTRY_MAX]; /* with which it begins */
	uint8_t size;                 /* so many of these are its first instruction, or enough for a jump */
	enum entry_relay by;
	remote_addr relay; /* where that jump lies, of ARCH_JUMP_BYTES */
};

#define ENTRY_NOT_COVERED HI_FUNCTION_COUNT
struct entries {
	struct entry entry[HI_FUNCTION_COUNT];
	enum hi_function covered_by[HI_FUNCTION_COUNT]; /* all of its calls come by the entry of this one: it is the same function, or jumps there at once */
	enum entry_nesting nesting[HI_FUNCTION_COUNT];  /* of those hooked by slots, too */
	struct {
		remote_addr lo, hi;
	} nested_from[HI_NESTED_FROM_MAX];
};

/* Which of the allocator's functions can be. memory: NULL: once all that is ours has been removed. -ENOMEM. */
must_check int entries_find(const struct elf_images *images, const struct maps *maps, const struct memory *memory, const struct allocator *allocator,
			    struct entries *out_entries);

/* None are, and nothing is known. */
void entries_clear(struct entries *entries);
/* None are, after all. */
void entries_drop_all(struct entries *entries);
/* How many functions are. */
size_t entries_count(const struct entries *entries);
/* This one is not, after all. */
void entries_drop(struct entries *entries, enum hi_function function);

/* Is nothing to be done about the slots of this function? */
static inline bool entries_have(const struct entries *entries, enum hi_function function)
{
	const enum hi_function by = entries->covered_by[function];

	return entries->entry[function].at || (by != ENTRY_NOT_COVERED && entries->entry[by].at);
}

/* A word to be changed so that the function's calls lead to the gate. */
struct entry_word {
	remote_addr at;
	uint64_t old_value, new_value;
};
/*
 * The words for an entry that is to lead to `gate`; -ERANGE: that is too far. -EFAULT: the code cannot be read. -EBUSY: it has been changed.
 */
must_check int entry_words(const struct entry *entry, remote_addr gate, const struct memory *memory, struct entry_word out_words[ENTRY_WORDS_MAX],
			   size_t *out_count);

#endif
