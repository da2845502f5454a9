/* SPDX-License-Identifier: MIT */
/*
 * named_function.h - functions of pools and arenas that the user names, with which of their
 * arguments is what. No symbol says that of such a function, as a name like malloc does.
 *
 * Plain data: written once by who reads the options, and then only read.
 */
#ifndef HI_NAMED_FUNCTION_H
#define HI_NAMED_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>

#define NAMED_FUNCTION_NAME_MAX 128u /* with the end of the string */
#define NAMED_FUNCTIONS_MAX 8u       /* that allocate, and as many that free */
#define NAMED_ARGUMENT_MAX 6u        /* the arguments that are in registers: 1 to 6 */

/* Where a function that allocates has the block. */
enum named_block {
	NAMED_BLOCK_RESULT,
	NAMED_BLOCK_MOVED,  /* the result, in place of the block in the argument, as of realloc */
	NAMED_BLOCK_STORED, /* stored where the argument points, as by posix_memalign */
};

/* Arguments are numbers from 1 on; 0 = the function has none of that kind. */
struct named_function {
	char name[NAMED_FUNCTION_NAME_MAX];   /* as in a symbol table */
	char object[NAMED_FUNCTION_NAME_MAX]; /* file name of its object; "" = of any */
	bool is_free;
	unsigned size;  /* the size, or what one of several takes; never 0 unless is_free */
	unsigned count; /* of how many: the size times the count is allocated */
	/* these are int or unsigned int, and the upper half of their register means nothing */
	bool size_is_int, count_is_int;
	bool size_is_known;     /* debug information says that it is one */
	enum named_block block; /* RESULT if is_free */
	/* the old block, the place where the new one is stored, or the block that is freed */
	unsigned block_argument;
	/* the pool that the block lies in; of is_free: that goes, with all blocks of it */
	unsigned pool;
};

struct named_functions {
	struct named_function alloc[NAMED_FUNCTIONS_MAX], free[NAMED_FUNCTIONS_MAX];
	size_t alloc_count, free_count;
};

#endif
