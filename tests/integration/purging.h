/* SPDX-License-Identifier: MIT */
/*
 * purging.h - has the allocator of a test target give back what it can, whichever it is: in the
 * program itself, or in a library. C and C++.
 */
#ifndef PURGING_H
#define PURGING_H

#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* NULL: in a library, or it is another allocator. */
typedef int jemalloc_control(const char *, void *, size_t *, void *, size_t);
extern jemalloc_control mallctl __attribute__((weak));
extern void MallocExtension_ReleaseFreeMemory(void) __attribute__((weak));
extern void MallocExtension_MarkThreadIdle(void) __attribute__((weak));
#ifdef __cplusplus
}
#endif

#define JEMALLOC_ALL "4096" /* the number that means all arenas */
#define allocator_function(name) (name ? (void *)(uintptr_t)name : dlsym(RTLD_DEFAULT, #name))

/* What allocators have for that. False: it is another one. */
static inline bool purge_tcmalloc(void)
{
	void (*release)(void) =
		(void (*)(void))allocator_function(MallocExtension_ReleaseFreeMemory);

	if (release)
		release();
	return release;
}

static inline bool purge_mimalloc(void)
{
	void (*collect)(bool) = (void (*)(bool))dlsym(RTLD_DEFAULT, "mi_collect");

	if (collect)
		collect(true);
	return collect;
}

static inline bool purge_jemalloc(void)
{
	jemalloc_control *control = (jemalloc_control *)allocator_function(mallctl);

	if (control)
		control("arena." JEMALLOC_ALL ".purge", NULL, NULL, NULL, 0);
	return control;
}

static inline void purge_heap(void)
{
	if (purge_tcmalloc() || purge_mimalloc() || purge_jemalloc())
		return;
#if defined(__GLIBC__) && !defined(STATIC) /* its object has malloc, too */
	malloc_trim(0);
#endif
}

/* Has this thread's cache give back its blocks, where there is a call for that. */
static inline void flush_thread_cache(void)
{
	void (*idle)(void) = (void (*)(void))allocator_function(MallocExtension_MarkThreadIdle);
	jemalloc_control *control = (jemalloc_control *)allocator_function(mallctl);

	if (idle)
		idle();
	if (control)
		control("thread.tcache.flush", NULL, NULL, NULL, 0);
}

#endif
