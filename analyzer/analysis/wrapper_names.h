/* SPDX-License-Identifier: MIT */
/*
 * wrapper_names.h - which names belong to allocators, to thin layers above them, and to the code
 * with which a process or a thread starts. user_frames.h says what is done with them.
 *
 * The lists hold names that a program does not give to anything else: malloc, operator new,
 * std::vector::_M_realloc_insert, zmalloc, palloc, g_strdup. A name like pool_alloc is in no list:
 * wrapper_names_may_be() says that it may be a thin layer, and the stacks have to prove it.
 *
 * Names are as in the symbol table, demangled or not shortened: marks of the linker and the
 * compiler, parameters and template arguments do not count. Everything here is a function of its
 * arguments.
 */
#ifndef HI_WRAPPER_NAMES_H
#define HI_WRAPPER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#define WRAPPER_NAMES_MAX 384u

enum wrapper_kind {
	WRAPPER_NONE,
	WRAPPER_LIBRARY,  /* allocates for its caller, and may call the program back */
	WRAPPER_ALLOCATOR /* allocates and does nothing else: all that it calls is the allocator */
};

/* The lists, by first character, so that a look-up compares with few names. */
struct wrapper_names {
	uint16_t first[256]; /* index + 1 into the lists; 0 = none */
	uint16_t next[WRAPPER_NAMES_MAX];
};

void wrapper_names_open(struct wrapper_names *out_names);
/*
 * The name without marks, parameters, template arguments and return type, for the functions below.
 * The caller frees it. NULL = out of memory.
 */
char *wrapper_names_plain(const char *function);
/*
 * What the plain name is by the lists. The namespaces core and alloc, which a C++ program may
 * have, too, count only in a profile with Rust's runtime.
 */
enum wrapper_kind wrapper_names_find(const struct wrapper_names *names, const char *plain,
				     bool has_rust);
/* Whether only Rust's runtime has such a function. */
bool wrapper_names_is_rust(const char *plain);
/*
 * Whether the name says that the function allocates and nothing else: one of its words ends in
 * alloc, strdup or the like, and after this one are none but number, zero, internal and the like.
 * True for pool_alloc, checked_realloc_array, MemAlloc; false for alloc_cache, load_alloc_table.
 */
bool wrapper_names_may_be(const char *plain);
/* Whether the object file is a C or C++ library, an allocator, or of the kernel. */
bool wrapper_names_has_module(const char *path);
/* Whether a process or a thread starts in the function. */
bool wrapper_names_is_start(const char *plain);

#endif
