/* SPDX-License-Identifier: MIT */
/*
 * functions.h - the functions of a profile, by which the views count: frames are unfolded into
 * inlined calls, and functions are told apart by name.
 *
 * profile.meta.granularity says what counts as a function: it may also be a file, a line or an
 * address.
 *
 * The numbers are the same each time for the same profile. Names are printable. Names live until
 * close, files as long as the profile.
 */
#ifndef HI_FUNCTIONS_H
#define HI_FUNCTIONS_H

#include "profile.h"
#include "table.h"

/* One function at one address. */
struct function_call {
	uint32_t function;
	uint32_t line;    /* 0 = unknown */
	const char *file; /* NULL = unknown */
	bool is_inline;   /* inlined into the next call outwards */
	bool is_allocator;
	bool is_named; /* false: the name is only an address */
};

struct functions {
	/*
	 * by function; without a symbol module+0xoffset, 0xaddress, or "main [derived]" for what
	 * libc calls as main
	 */
	char **name;
	size_t count;
	/* calls of frame f, innermost first: from first[f] to first[f + 1] */
	struct function_call *call;
	uint32_t *first;
	/* The rest is private. */
	uint32_t *unfolded;
	size_t name_room;
	char *program; /* what the program's file is called; NULL = by its path */
	/* in memory, where the program's main begins if it has no name; 0 = unknown */
	uint64_t main;
	struct table by_name;
};

/*
 * At least the most calls that a stack of the profile has, by functions.first[], which must be
 * complete: room for one unfolded stack.
 */
size_t functions_stack_bound(const struct functions *functions, const struct profile *profile);
/* 0 or -ENOMEM. */
int functions_open(const struct profile *profile, struct functions *out_functions);
void functions_close(struct functions *functions);
/*
 * The indices in call[] of a whole stack, leaf first; valid until the next functions_unfold().
 * Leaves out the allocator's own functions at the leaf (operator new and what containers call on
 * the way to it): the first function that the programmer wrote is what counts.
 */
const uint32_t *functions_unfold(const struct functions *functions,
				 const struct profile_stack *stack, size_t *out_count);

#endif
