/* SPDX-License-Identifier: MIT */
/*
 * Room payload/: the code that runs in the target, and samples what it allocates. Start at hooks.h.
 */

/*
 * hooks.h - the handlers that the hook stubs of arch/ call, one for each shape of allocation
 * function.
 *
 * Only the stub calls them, and only if `armed` was non-zero. Each returns whether the stub returns
 * a result or continues in the original.
 */
#ifndef PAYLOAD_HOOKS_H
#define PAYLOAD_HOOKS_H

#include "arch/arch.h"

struct hook_outcome hook_alloc(struct hook_call *call);          /* (size, ...) -> block */
struct hook_outcome hook_alloc_sizearg2(struct hook_call *call); /* (_, size) -> block */
struct hook_outcome hook_memalign(struct hook_call *call);       /* (alignment, size) -> block */
struct hook_outcome hook_calloc(struct hook_call *call);         /* (count, size) -> block */
/* (&block, alignment, size) -> error */
struct hook_outcome hook_posix_memalign(struct hook_call *call);
struct hook_outcome hook_new(struct hook_call *call); /* (size) -> block, or throws */
/* (size, alignment) -> block, or throws */
struct hook_outcome hook_new_aligned(struct hook_call *call);
/* (block, size) -> block; size 0 frees */
struct hook_outcome hook_realloc(struct hook_call *call);
struct hook_outcome hook_reallocf(struct hook_call *call); /* (block, size) -> block */
struct hook_outcome hook_new_n(struct hook_call *call);    /* (count, size) -> block, or throws */
struct hook_outcome hook_heap_new(struct hook_call *call); /* (heap, size) -> block, or throws */
/* (heap, count, size) -> block, or throws */
struct hook_outcome hook_heap_new_n(struct hook_call *call);
struct hook_outcome
hook_new_realloc(struct hook_call *call); /* (block, size) -> block, or throws */
/* (block, count, size) -> block, or throws */
struct hook_outcome hook_new_reallocn(struct hook_call *call);
struct hook_outcome hook_strdup(struct hook_call *call); /* -> a string of the caller's */
/* (&block, count, size) -> error */
struct hook_outcome hook_reallocarr(struct hook_call *call);
struct hook_outcome hook_heap_calloc(struct hook_call *call);   /* (heap, count, size) -> block */
struct hook_outcome hook_heap_realloc(struct hook_call *call);  /* (heap, block, size) -> block */
struct hook_outcome hook_heap_reallocf(struct hook_call *call); /* (heap, block, size) -> block */
/* (heap, block, count, size) -> block */
struct hook_outcome hook_heap_reallocn(struct hook_call *call);
struct hook_outcome hook_reallocarray(struct hook_call *call); /* (block, count, size) -> block */
struct hook_outcome hook_rallocx(struct hook_call *call);      /* (block, size, flags) -> block */
/* (block, size, extra, flags) -> real size */
struct hook_outcome hook_xallocx(struct hook_call *call);
struct hook_outcome hook_free(struct hook_call *call); /* (block, ...) */
/* of address space: mappings.c */
struct hook_outcome hook_mmap(struct hook_call *call);   /* as mmap */
struct hook_outcome hook_munmap(struct hook_call *call); /* as munmap */
struct hook_outcome hook_mremap(struct hook_call *call); /* as mremap */
struct hook_outcome hook_brk(struct hook_call *call);    /* as brk */
/* of pools: named.c */
struct hook_outcome hook_named_alloc(struct hook_call *call);
struct hook_outcome hook_named_free(struct hook_call *call);

#endif
