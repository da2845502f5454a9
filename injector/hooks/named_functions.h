/* SPDX-License-Identifier: MIT */
/*
 * named_functions.h - the functions of pools and arenas that the user has named (HI_HOOKS, NAMED):
 * where they are in the process.
 *
 * As those that map memory (mapping_functions.h) they are made functions of the first allocator,
 * and are hooked at their entry only. A name must lead to one function: of a program that has two,
 * it is not known which one is meant. Nothing here writes.
 */
#ifndef HI_NAMED_FUNCTIONS_H
#define HI_NAMED_FUNCTIONS_H

#include "entries.h"
#include "named_function.h"

#define NAMED_PROBLEM_MAX 512u

/*
 * Adds them to the first allocator. -EINVAL: one of them cannot be found, or more than one has its
 * name; out_problem says so to the user.
 */
must_check int named_functions_find(const struct elf_images *images,
				    const struct named_functions *named,
				    struct allocators *allocators,
				    char out_problem[NAMED_PROBLEM_MAX]);
/* -EINVAL: one of those that were found is not hooked at its entry; out_problem says which, and
 * why. */
must_check int named_functions_check(const struct allocators *allocators,
				     const struct entries *entries,
				     const struct named_functions *named,
				     char out_problem[NAMED_PROBLEM_MAX]);
/*
 * -EINVAL: one of those that allocate takes more of its caller than a hook can pass on
 * (forwarding.h); out_problem says which, and what. kept: index of the register through which it
 * returns.
 */
must_check int named_functions_forward(const struct elf_images *images,
				       const struct allocators *allocators,
				       const struct named_functions *named, unsigned kept,
				       char out_problem[NAMED_PROBLEM_MAX]);

/* The hooks of the functions that allocate, and of those that free: as HI_HOOKS numbers them. */
static inline enum hi_function named_function_hook(bool is_free, size_t number)
{
	return (enum hi_function)((is_free ? HI_FN_NAMED_FREE_0 : HI_FN_NAMED_ALLOC_0) + number);
}

#endif
