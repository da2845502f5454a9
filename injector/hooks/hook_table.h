/* SPDX-License-Identifier: MIT */
/* hook_table.h - HI_HOOKS (hi_hooks.h) as constants: what the injector knows of each function. */
#ifndef HI_HOOK_TABLE_H
#define HI_HOOK_TABLE_H

#include <stdbool.h>

#include "hi_hooks.h"

/* The gate templates. A function has that of its kind; the last ones are not for functions. */
enum gate_class {
	GATE_ALLOC,
	GATE_SIZE2,
	GATE_SIZEARG2,
	GATE_SIZEARG3,
	GATE_FREE,
	GATE_REALLOC,
	GATE_REALLOC_NULL, /* instead of GATE_REALLOC, where a block of NULL is passed to malloc */
	GATE_ALWAYS,       /* also instead of any other, where calls may be nested */
	GATE_INERT,
	GATE_RESTORE,
	GATE_CLASS_COUNT
};

/* The column `nesting` of HI_HOOKS. */
enum hook_nesting {
	HOOK_NESTING_NONE,
	HOOK_NESTING_ASSUMED,
	HOOK_NESTING_EXAMINED,
	HOOK_NESTING_EXAMINED_NULL,
};

struct hook {
	const char *symbol; /* the function's name in symbol tables */
	const char *name;   /* the payload's hook is hi_hook_<name> */
	enum gate_class gate;
	bool allocator_only; /* hooked only in the object that defines malloc */
	bool prefixed_only;  /* and only where its functions have a prefix */
	bool is_mapping;     /* of the C library (mapping_functions.h), and no allocator's */
	bool is_named;       /* the user says what it is (named_functions.h); likewise */
	enum hook_nesting nesting;
	enum hi_function plain, nothrow; /* what its handler calls instead of it, or HI_FN_NONE */
};

/* The function of that symbol; HI_FN_NONE: it is none of HI_HOOKS. */
enum hi_function hook_function_of(const char *symbol);
/* The same of a symbol whose prefix was removed: tc_new and mi_new are operator new. */
enum hi_function hook_prefixed_function_of(const char *name);

/* The other way round: the name that follows the prefix, or the symbol if the prefix is empty. */
const char *hook_name_after(const char *prefix, enum hi_function function);

/* By enum hi_function. */
extern const struct hook hook_table[HI_FUNCTION_COUNT];

#endif
