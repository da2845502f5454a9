/* SPDX-License-Identifier: MIT */
/*
 * hi_hooks.h - the functions that are hooked: the one table of all that differs between them.
 *
 * The payload makes its hooks from the table (arch/NAME/gate.S, so the macros serve the assembler,
 * too), the injector its own table of constants (injector/hooks/hook_table.c), and the numbers
 * stand in the record stream. Rows may be in any order.
 */
#ifndef HI_HOOKS_H
#define HI_HOOKS_H

/*
 * X(number, id, hook, symbol, kind, where, nesting, nothrow), one row per function:
 *
 * number    HI_FN_<id>. The record stream holds it, so it never changes; a new row takes the next.
 * hook      the payload's hook is hi_hook_<hook>: the id in lower case.
 * symbol    name in symbol tables. A symbol that an object does not define is not hooked.
 * kind      what its arguments and its result are: a row of HI_HOOK_KINDS.
 * where     ANY: hooked in whichever object defines the symbol. ALLOCATOR: only in the object that
 *           defines malloc (jemalloc, tcmalloc, mimalloc). In any other object such a function is
 *           a wrapper around malloc, and its blocks would count twice: libstdc++'s operators reach
 *           malloc through libstdc++'s slot. PREFIXED: as ALLOCATOR, and only where the names of
 *           the allocator's functions have a prefix (mi_zalloc): without one it may be anything.
 *           MAPPING: only in the C library, at its entry, and only where mappings were asked for
 *           (injector/hooks/mapping_functions.h). NAMED: a function of a pool that the user has
 *           named, at its entry (injector/hooks/named_functions.h); it has no symbol of its own.
 * nesting   does it call another function of the table that allocates? EXAMINED: as it is called
 *           often, its code is examined, and what its own code does is all that it does.
 *           EXAMINED_NULL: the same, and it may jump to malloc for a block of NULL. ASSUMED: it
 *           may. NONE: it frees.
 * nothrow   of an operator that throws: the id of its variant that returns NULL instead. Else NONE.
 */
#define HI_HOOKS(X)                                                                                \
	X(0, MALLOC, malloc, "malloc", alloc, ANY, EXAMINED, NONE)                                 \
	X(1, CALLOC, calloc, "calloc", calloc, ANY, EXAMINED, NONE)                                \
	X(2, REALLOC, realloc, "realloc", realloc, ANY, EXAMINED_NULL, NONE)                       \
	X(3, REALLOCARRAY, reallocarray, "reallocarray", reallocarray, ANY, ASSUMED, NONE)         \
	X(4, FREE, free, "free", free, ANY, NONE, NONE)                                            \
	X(5, FREE_SIZED, free_sized, "free_sized", free, ANY, NONE, NONE)                          \
	X(6, FREE_ALIGNED_SIZED, free_aligned_sized, "free_aligned_sized", free, ANY, NONE, NONE)  \
	X(7, CFREE, cfree, "cfree", free, ANY, NONE, NONE)                                         \
	X(8, POSIX_MEMALIGN, posix_memalign, "posix_memalign", posix_memalign, ANY, ASSUMED, NONE) \
	X(9, ALIGNED_ALLOC, aligned_alloc, "aligned_alloc", alloc_sizearg2, ANY, ASSUMED, NONE)    \
	X(10, MEMALIGN, memalign, "memalign", memalign, ANY, ASSUMED, NONE)                        \
	X(11, VALLOC, valloc, "valloc", alloc, ANY, ASSUMED, NONE)                                 \
	X(12, PVALLOC, pvalloc, "pvalloc", alloc, ANY, ASSUMED, NONE)                              \
	X(13, MALLOCX, mallocx, "mallocx", alloc, ALLOCATOR, EXAMINED, NONE)                       \
	X(14, RALLOCX, rallocx, "rallocx", rallocx, ALLOCATOR, EXAMINED, NONE)                     \
	X(15, XALLOCX, xallocx, "xallocx", xallocx, ALLOCATOR, ASSUMED, NONE)                      \
	X(16, DALLOCX, dallocx, "dallocx", free, ALLOCATOR, NONE, NONE)                            \
	X(17, SDALLOCX, sdallocx, "sdallocx", free, ALLOCATOR, NONE, NONE)                         \
	X(18, NEW, new, "_Znwm", new, ALLOCATOR, EXAMINED, NEW_NOTHROW)                            \
	X(19, NEW_ARRAY, new_array, "_Znam", new, ALLOCATOR, EXAMINED, NEW_ARRAY_NOTHROW)          \
	X(20, NEW_NOTHROW, new_nothrow, "_ZnwmRKSt9nothrow_t", alloc, ALLOCATOR, EXAMINED, NONE)   \
	X(21, NEW_ARRAY_NOTHROW, new_array_nothrow, "_ZnamRKSt9nothrow_t", alloc, ALLOCATOR,       \
	  EXAMINED, NONE)                                                                          \
	X(22, NEW_ALIGNED, new_aligned, "_ZnwmSt11align_val_t", new_aligned, ALLOCATOR, EXAMINED,  \
	  NEW_ALIGNED_NOTHROW)                                                                     \
	X(23, NEW_ARRAY_ALIGNED, new_array_aligned, "_ZnamSt11align_val_t", new_aligned,           \
	  ALLOCATOR, EXAMINED, NEW_ARRAY_ALIGNED_NOTHROW)                                          \
	X(24, NEW_ALIGNED_NOTHROW, new_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t",      \
	  alloc, ALLOCATOR, EXAMINED, NONE)                                                        \
	X(25, NEW_ARRAY_ALIGNED_NOTHROW, new_array_aligned_nothrow,                                \
	  "_ZnamSt11align_val_tRKSt9nothrow_t", alloc, ALLOCATOR, EXAMINED, NONE)                  \
	X(26, DELETE, delete, "_ZdlPv", free, ALLOCATOR, NONE, NONE)                               \
	X(27, DELETE_ARRAY, delete_array, "_ZdaPv", free, ALLOCATOR, NONE, NONE)                   \
	X(28, DELETE_NOTHROW, delete_nothrow, "_ZdlPvRKSt9nothrow_t", free, ALLOCATOR, NONE, NONE) \
	X(29, DELETE_ARRAY_NOTHROW, delete_array_nothrow, "_ZdaPvRKSt9nothrow_t", free, ALLOCATOR, \
	  NONE, NONE)                                                                              \
	X(30, DELETE_SIZED, delete_sized, "_ZdlPvm", free, ALLOCATOR, NONE, NONE)                  \
	X(31, DELETE_ARRAY_SIZED, delete_array_sized, "_ZdaPvm", free, ALLOCATOR, NONE, NONE)      \
	X(32, DELETE_ALIGNED, delete_aligned, "_ZdlPvSt11align_val_t", free, ALLOCATOR, NONE,      \
	  NONE)                                                                                    \
	X(33, DELETE_ARRAY_ALIGNED, delete_array_aligned, "_ZdaPvSt11align_val_t", free,           \
	  ALLOCATOR, NONE, NONE)                                                                   \
	X(34, DELETE_ALIGNED_NOTHROW, delete_aligned_nothrow,                                      \
	  "_ZdlPvSt11align_val_tRKSt9nothrow_t", free, ALLOCATOR, NONE, NONE)                      \
	X(35, DELETE_ARRAY_ALIGNED_NOTHROW, delete_array_aligned_nothrow,                          \
	  "_ZdaPvSt11align_val_tRKSt9nothrow_t", free, ALLOCATOR, NONE, NONE)                      \
	X(36, DELETE_SIZED_ALIGNED, delete_sized_aligned, "_ZdlPvmSt11align_val_t", free,          \
	  ALLOCATOR, NONE, NONE)                                                                   \
	X(37, DELETE_ARRAY_SIZED_ALIGNED, delete_array_sized_aligned, "_ZdaPvmSt11align_val_t",    \
	  free, ALLOCATOR, NONE, NONE)                                                             \
	X(38, REALLOCF, reallocf, "reallocf", reallocf, ALLOCATOR, EXAMINED, NONE)                 \
	X(39, MALLOC_SKIP_NEW_HANDLER, malloc_skip_new_handler, "malloc_skip_new_handler", alloc,  \
	  PREFIXED, EXAMINED, NONE)                                                                \
	X(40, ZALLOC, zalloc, "zalloc", alloc, PREFIXED, EXAMINED, NONE)                           \
	X(41, MALLOC_SMALL, malloc_small, "malloc_small", alloc, PREFIXED, EXAMINED, NONE)         \
	X(42, ZALLOC_SMALL, zalloc_small, "zalloc_small", alloc, PREFIXED, EXAMINED, NONE)         \
	X(43, MALLOCN, mallocn, "mallocn", calloc, PREFIXED, EXAMINED, NONE)                       \
	X(44, REALLOCN, reallocn, "reallocn", reallocarray, PREFIXED, ASSUMED, NONE)               \
	X(45, REZALLOC, rezalloc, "rezalloc", realloc, PREFIXED, EXAMINED, NONE)                   \
	X(46, RECALLOC, recalloc, "recalloc", reallocarray, PREFIXED, ASSUMED, NONE)               \
	X(47, MALLOC_ALIGNED, malloc_aligned, "malloc_aligned", alloc, PREFIXED, EXAMINED, NONE)   \
	X(48, MALLOC_ALIGNED_AT, malloc_aligned_at, "malloc_aligned_at", alloc, PREFIXED,          \
	  EXAMINED, NONE)                                                                          \
	X(49, ZALLOC_ALIGNED, zalloc_aligned, "zalloc_aligned", alloc, PREFIXED, EXAMINED, NONE)   \
	X(50, ZALLOC_ALIGNED_AT, zalloc_aligned_at, "zalloc_aligned_at", alloc, PREFIXED,          \
	  EXAMINED, NONE)                                                                          \
	X(51, CALLOC_ALIGNED, calloc_aligned, "calloc_aligned", calloc, PREFIXED, EXAMINED, NONE)  \
	X(52, CALLOC_ALIGNED_AT, calloc_aligned_at, "calloc_aligned_at", calloc, PREFIXED,         \
	  EXAMINED, NONE)                                                                          \
	X(53, REALLOC_ALIGNED, realloc_aligned, "realloc_aligned", realloc, PREFIXED, EXAMINED,    \
	  NONE)                                                                                    \
	X(54, REALLOC_ALIGNED_AT, realloc_aligned_at, "realloc_aligned_at", realloc, PREFIXED,     \
	  EXAMINED, NONE)                                                                          \
	X(55, REZALLOC_ALIGNED, rezalloc_aligned, "rezalloc_aligned", realloc, PREFIXED, EXAMINED, \
	  NONE)                                                                                    \
	X(56, REZALLOC_ALIGNED_AT, rezalloc_aligned_at, "rezalloc_aligned_at", realloc, PREFIXED,  \
	  EXAMINED, NONE)                                                                          \
	X(57, RECALLOC_ALIGNED, recalloc_aligned, "recalloc_aligned", reallocarray, PREFIXED,      \
	  ASSUMED, NONE)                                                                           \
	X(58, NEW_N, new_n, "new_n", new_n, PREFIXED, EXAMINED, NONE)                              \
	X(59, FREE_SIZE, free_size, "free_size", free, PREFIXED, NONE, NONE)                       \
	X(60, FREE_ALIGNED, free_aligned, "free_aligned", free, PREFIXED, NONE, NONE)              \
	X(61, FREE_SIZE_ALIGNED, free_size_aligned, "free_size_aligned", free, PREFIXED, NONE,     \
	  NONE)                                                                                    \
	X(62, HEAP_MALLOC, heap_malloc, "heap_malloc", alloc_sizearg2, PREFIXED, EXAMINED, NONE)   \
	X(63, HEAP_ZALLOC, heap_zalloc, "heap_zalloc", alloc_sizearg2, PREFIXED, EXAMINED, NONE)   \
	X(64, HEAP_MALLOC_SMALL, heap_malloc_small, "heap_malloc_small", alloc_sizearg2, PREFIXED, \
	  EXAMINED, NONE)                                                                          \
	X(65, HEAP_MALLOC_ALIGNED, heap_malloc_aligned, "heap_malloc_aligned", alloc_sizearg2,     \
	  PREFIXED, EXAMINED, NONE)                                                                \
	X(66, HEAP_MALLOC_ALIGNED_AT, heap_malloc_aligned_at, "heap_malloc_aligned_at",            \
	  alloc_sizearg2, PREFIXED, EXAMINED, NONE)                                                \
	X(67, HEAP_ZALLOC_ALIGNED, heap_zalloc_aligned, "heap_zalloc_aligned", alloc_sizearg2,     \
	  PREFIXED, EXAMINED, NONE)                                                                \
	X(68, HEAP_ZALLOC_ALIGNED_AT, heap_zalloc_aligned_at, "heap_zalloc_aligned_at",            \
	  alloc_sizearg2, PREFIXED, EXAMINED, NONE)                                                \
	X(69, HEAP_CALLOC, heap_calloc, "heap_calloc", heap_calloc, PREFIXED, ASSUMED, NONE)       \
	X(70, HEAP_MALLOCN, heap_mallocn, "heap_mallocn", heap_calloc, PREFIXED, ASSUMED, NONE)    \
	X(71, HEAP_CALLOC_ALIGNED, heap_calloc_aligned, "heap_calloc_aligned", heap_calloc,        \
	  PREFIXED, ASSUMED, NONE)                                                                 \
	X(72, HEAP_REALLOC, heap_realloc, "heap_realloc", heap_realloc, PREFIXED, ASSUMED, NONE)   \
	X(73, HEAP_REZALLOC, heap_rezalloc, "heap_rezalloc", heap_realloc, PREFIXED, ASSUMED,      \
	  NONE)                                                                                    \
	X(74, HEAP_REALLOC_ALIGNED, heap_realloc_aligned, "heap_realloc_aligned", heap_realloc,    \
	  PREFIXED, ASSUMED, NONE)                                                                 \
	X(75, HEAP_REZALLOC_ALIGNED, heap_rezalloc_aligned, "heap_rezalloc_aligned", heap_realloc, \
	  PREFIXED, ASSUMED, NONE)                                                                 \
	X(76, HEAP_REALLOCF, heap_reallocf, "heap_reallocf", heap_reallocf, PREFIXED, ASSUMED,     \
	  NONE)                                                                                    \
	X(77, HEAP_REALLOCN, heap_reallocn, "heap_reallocn", heap_reallocn, PREFIXED, ASSUMED,     \
	  NONE)                                                                                    \
	X(78, HEAP_RECALLOC, heap_recalloc, "heap_recalloc", heap_reallocn, PREFIXED, ASSUMED,     \
	  NONE)                                                                                    \
	X(79, HEAP_ALLOC_NEW, heap_alloc_new, "heap_alloc_new", heap_new, PREFIXED, EXAMINED,      \
	  NONE)                                                                                    \
	X(80, HEAP_ALLOC_NEW_N, heap_alloc_new_n, "heap_alloc_new_n", heap_new_n, PREFIXED,        \
	  ASSUMED, NONE)                                                                           \
	X(81, NEW_REALLOC, new_realloc, "new_realloc", new_realloc, PREFIXED, ASSUMED, NONE)       \
	X(82, NEW_REALLOCN, new_reallocn, "new_reallocn", new_reallocn, PREFIXED, ASSUMED, NONE)   \
	X(83, STRDUP, strdup, "strdup", strdup, PREFIXED, ASSUMED, NONE)                           \
	X(84, STRNDUP, strndup, "strndup", strdup, PREFIXED, ASSUMED, NONE)                        \
	X(85, HEAP_STRDUP, heap_strdup, "heap_strdup", strdup, PREFIXED, ASSUMED, NONE)            \
	X(86, HEAP_STRNDUP, heap_strndup, "heap_strndup", strdup, PREFIXED, ASSUMED, NONE)         \
	X(87, REALLOCARR, reallocarr, "reallocarr", reallocarr, ALLOCATOR, ASSUMED, NONE)          \
	X(88, ALIGNED_RECALLOC, aligned_recalloc, "aligned_recalloc", reallocarray, PREFIXED,      \
	  ASSUMED, NONE)                                                                           \
	X(89, ALIGNED_OFFSET_RECALLOC, aligned_offset_recalloc, "aligned_offset_recalloc",         \
	  reallocarray, PREFIXED, ASSUMED, NONE)                                                   \
	X(90, RECALLOC_ALIGNED_AT, recalloc_aligned_at, "recalloc_aligned_at", reallocarray,       \
	  PREFIXED, ASSUMED, NONE)                                                                 \
	X(91, HEAP_CALLOC_ALIGNED_AT, heap_calloc_aligned_at, "heap_calloc_aligned_at",            \
	  heap_calloc, PREFIXED, ASSUMED, NONE)                                                    \
	X(92, HEAP_REALLOC_ALIGNED_AT, heap_realloc_aligned_at, "heap_realloc_aligned_at",         \
	  heap_realloc, PREFIXED, ASSUMED, NONE)                                                   \
	X(93, HEAP_REZALLOC_ALIGNED_AT, heap_rezalloc_aligned_at, "heap_rezalloc_aligned_at",      \
	  heap_realloc, PREFIXED, ASSUMED, NONE)                                                   \
	X(94, HEAP_RECALLOC_ALIGNED, heap_recalloc_aligned, "heap_recalloc_aligned",               \
	  heap_reallocn, PREFIXED, ASSUMED, NONE)                                                  \
	X(95, HEAP_RECALLOC_ALIGNED_AT, heap_recalloc_aligned_at, "heap_recalloc_aligned_at",      \
	  heap_reallocn, PREFIXED, ASSUMED, NONE)                                                  \
	X(96, MMAP, mmap, "mmap", mmap, MAPPING, NONE, NONE)                                       \
	X(97, MUNMAP, munmap, "munmap", munmap, MAPPING, NONE, NONE)                               \
	X(98, MREMAP, mremap, "mremap", mremap, MAPPING, NONE, NONE)                               \
	X(99, BRK, brk, "brk", brk, MAPPING, NONE, NONE)                                           \
	X(100, NAMED_ALLOC_0, named_alloc_0, "", named_alloc, NAMED, NONE, NONE)                   \
	X(101, NAMED_ALLOC_1, named_alloc_1, "", named_alloc, NAMED, NONE, NONE)                   \
	X(102, NAMED_ALLOC_2, named_alloc_2, "", named_alloc, NAMED, NONE, NONE)                   \
	X(103, NAMED_ALLOC_3, named_alloc_3, "", named_alloc, NAMED, NONE, NONE)                   \
	X(104, NAMED_ALLOC_4, named_alloc_4, "", named_alloc, NAMED, NONE, NONE)                   \
	X(105, NAMED_ALLOC_5, named_alloc_5, "", named_alloc, NAMED, NONE, NONE)                   \
	X(106, NAMED_ALLOC_6, named_alloc_6, "", named_alloc, NAMED, NONE, NONE)                   \
	X(107, NAMED_ALLOC_7, named_alloc_7, "", named_alloc, NAMED, NONE, NONE)                   \
	X(108, NAMED_FREE_0, named_free_0, "", named_free, NAMED, NONE, NONE)                      \
	X(109, NAMED_FREE_1, named_free_1, "", named_free, NAMED, NONE, NONE)                      \
	X(110, NAMED_FREE_2, named_free_2, "", named_free, NAMED, NONE, NONE)                      \
	X(111, NAMED_FREE_3, named_free_3, "", named_free, NAMED, NONE, NONE)                      \
	X(112, NAMED_FREE_4, named_free_4, "", named_free, NAMED, NONE, NONE)                      \
	X(113, NAMED_FREE_5, named_free_5, "", named_free, NAMED, NONE, NONE)                      \
	X(114, NAMED_FREE_6, named_free_6, "", named_free, NAMED, NONE, NONE)                      \
	X(115, NAMED_FREE_7, named_free_7, "", named_free, NAMED, NONE, NONE)

/*
 * K(kind, gate, plain), one row per kind. The payload's handler of the kind is hook_<kind>
 * (payload/hooks.h).
 *
 * gate      which gate template counts the bytes, hi_gate_<gate>, and in which arguments they are.
 *           ALLOC: argument 1 is the size; SIZE2: the size is argument 1 times argument 2;
 *           SIZEARG2, SIZEARG3: the size is argument 2 or 3; FREE: argument 1 is the block;
 *           REALLOC: argument 1 is the block, argument 2 the size; ALWAYS: anything else, and
 *           the handler counts.
 * plain     of operators that throw: the function that the handler calls instead where their blocks
 *           are interchangeable. Else NONE.
 */
#define HI_HOOK_KINDS(K)                                                                          \
	K(alloc, ALLOC, NONE)             /* (size, ...) */                                       \
	K(alloc_sizearg2, SIZEARG2, NONE) /* (alignment, size) */                                 \
	K(calloc, SIZE2, NONE)            /* (count, size) */                                     \
	K(posix_memalign, SIZEARG3, NONE) /* (&block, alignment, size) */                         \
	K(memalign, ALWAYS, NONE) /* (alignment, size); it may call aligned_alloc: see payload */ \
	K(new, ALLOC, MALLOC)     /* (size), throws */                                            \
	K(new_aligned, ALLOC, MEMALIGN)     /* (size, alignment), throws */                       \
	K(realloc, REALLOC, NONE)           /* (block, size); size 0 frees */                     \
	K(reallocarray, ALWAYS, NONE)       /* (block, count, size) */                            \
	K(rallocx, REALLOC, NONE)           /* (block, size, flags) */                            \
	K(reallocf, REALLOC, NONE)          /* (block, size); a failure frees */                  \
	K(xallocx, ALWAYS, NONE)            /* (block, size, extra, flags) -> real size */        \
	K(new_n, SIZE2, MALLOCN)            /* (count, size), throws */                           \
	K(heap_new, SIZEARG2, HEAP_MALLOC)  /* (heap, size), throws */                            \
	K(heap_new_n, ALWAYS, HEAP_MALLOCN) /* (heap, count, size), throws */                     \
	K(new_realloc, REALLOC, REALLOC)    /* (block, size), throws */                           \
	K(new_reallocn, ALWAYS, REALLOCN)   /* (block, count, size), throws */                    \
	K(strdup, ALWAYS, NONE)             /* -> a block that is a string and no more */         \
	K(reallocarr, ALWAYS, NONE)         /* (&block, count, size) */                           \
	K(heap_calloc, ALWAYS, NONE)        /* (heap, count, size) */                             \
	K(heap_realloc, ALWAYS, NONE)       /* (heap, block, size) */                             \
	K(heap_reallocf, ALWAYS, NONE)      /* (heap, block, size); a failure frees */            \
	K(heap_reallocn, ALWAYS, NONE)      /* (heap, block, count, size) */                      \
	K(free, FREE, NONE)                 /* (block, ...) */                                    \
	K(mmap, ALWAYS, NONE)               /* (hint, bytes, prot, flags, fd, offset) */          \
	K(munmap, ALWAYS, NONE)             /* (address, bytes) */                                \
	K(mremap, ALWAYS, NONE)             /* (old, old bytes, bytes, flags, address) */         \
	K(brk, ALWAYS, NONE)                /* (end of the heap) */                               \
	K(named_alloc, ALWAYS, NONE)        /* as the words of its gate entry say */              \
	K(named_free, ALWAYS, NONE)         /* likewise */

#ifndef __ASSEMBLER__

/* rows of functions that the user names: that many that allocate, and as many that free */
#define HI_NAMED_MAX 8u

#define HI_ENUM(number, id, ...) HI_FN_##id = (number),
#define HI_ONE(...) +1
#define HI_BIT(number, ...) | (unsigned __int128)1 << (number)
enum hi_function {
	HI_HOOKS(HI_ENUM) HI_FUNCTION_COUNT = HI_HOOKS(HI_ONE),
	HI_FN_NONE = HI_FUNCTION_COUNT
};
_Static_assert((0 HI_HOOKS(HI_BIT)) == ~(unsigned __int128)0 >> (128 - HI_FUNCTION_COUNT),
	       "the numbers are 0 to HI_FUNCTION_COUNT - 1, each once");
#undef HI_BIT
#undef HI_ONE
#undef HI_ENUM
_Static_assert(HI_FN_NAMED_FREE_0 == HI_FN_NAMED_ALLOC_0 + HI_NAMED_MAX &&
		       HI_FN_NAMED_FREE_7 + 1 == HI_FN_NAMED_FREE_0 + HI_NAMED_MAX,
	       "the named functions are in order");

#endif

#endif
