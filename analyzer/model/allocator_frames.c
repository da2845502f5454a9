/* SPDX-License-Identifier: MIT */
/* allocator_frames.c - see allocator_frames.h. */
#include "allocator_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hi_path.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/*
 * What google-pprof, jeprof and go pprof leave out, and what came later. A trailing * matches any
 * rest of a name. MyISAM's functions begin with mi_, too, so mimalloc's are named in full.
 */
static const char *const names[] = {
	"malloc",
	"calloc",
	"realloc",
	"reallocarray",
	"memalign",
	"do_memalign",
	"posix_memalign",
	"__posix_memalign",
	"aligned_alloc",
	"valloc",
	"pvalloc",
	"__libc_malloc",
	"__libc_calloc",
	"__libc_realloc",
	"__libc_memalign",
	"operator new",
	"operator new[]",
	"__builtin_new",
	"__builtin_vec_new",
	"__gnu_cxx::new_allocator::allocate",
	"simple_alloc::allocate",
	"__malloc_alloc_template::allocate",
	"malloc_zone_*",
	"cpp_alloc",
	/* tcmalloc */
	"tcmalloc::*",
	"TCMalloc*",
	"CentralFreeList::*",
	"ThreadCache::*",
	"PageHeap::*",
	"tc_malloc*",
	"tc_calloc",
	"tc_realloc",
	"tc_memalign",
	"tc_posix_memalign",
	"tc_valloc",
	"tc_pvalloc",
	"tc_new*",
	"do_malloc",
	"do_malloc_*",
	"::do_malloc*",
	"DoSampledAllocation",
	"MallocedMemBlock::MallocedMemBlock",
	"BaseArena::*",
	"MallocHook::*",
	/* jemalloc */
	"je_*",
	"_rjem_*",
	"mallocx",
	"rallocx",
	"xallocx",
	"prof_backtrace*",
	"newImpl",
	"void* newImpl",
	/* mimalloc */
	"mi_malloc*",
	"mi_calloc*",
	"mi_zalloc*",
	"mi_realloc*",
	"mi_recalloc*",
	"mi_rezalloc*",
	"mi_reallocf",
	"mi_heap_malloc*",
	"mi_heap_calloc*",
	"mi_heap_zalloc*",
	"mi_heap_realloc*",
	"mi_new*",
	"mi_memalign",
	"mi_aligned_alloc",
	"mi_posix_memalign",
	"mi_valloc",
	"mi_pvalloc",
	"_mi_malloc_*",
	"_mi_heap_*",
	"_mi_page_malloc*",
};

/* The beginnings of names of object files. */
static const char *const modules[] = {"libjemalloc.", "libtcmalloc.", "libtcmalloc_",
				      "libmimalloc.", "libmimalloc-"};

bool allocator_frames_has(const char *function)
{
	for (size_t i = 0; i < LENGTH(names); i++) {
		const size_t length = strcspn(names[i], "*");

		if (names[i][length] ? strncmp(function, names[i], length) == 0
				     : strcmp(function, names[i]) == 0)
			return true;
	}
	return false;
}

static bool is_in_allocator(const struct profile *profile, const struct profile_frame *frame)
{
	const char *path = frame->module >= 0 && frame->module < (int64_t)profile->module_count
				   ? profile->module[frame->module].path
				   : NULL;

	for (size_t i = 0; path && i < LENGTH(modules); i++) {
		if (strncmp(hi_base_name(path), modules[i], strlen(modules[i])) == 0)
			return true;
	}
	return false;
}

/* By the function that owns the code, not by what is inlined into it. */
static bool is_allocator(const struct profile *profile, const struct profile_frame *frame)
{
	const char *function =
		frame->line_count ? frame->line[frame->line_count - 1].function : NULL;

	return is_in_allocator(profile, frame) || (function && allocator_frames_has(function));
}

/* How many frames to cut off the leaf. Before the first frame of a user, from the root, none is. */
static uint32_t count_cut(const bool *is_cut, const struct profile_stack *stack)
{
	uint32_t left = stack->frame_count;

	while (left > 0 && is_cut[stack->frame[left - 1]])
		left--;
	while (left > 0 && !is_cut[stack->frame[left - 1]])
		left--;
	return left;
}

/* The outermost frame of a stack that has no others. */
static uint32_t count_but_one(const bool *is_cut, const struct profile_stack *stack)
{
	uint32_t first = 0;

	while (first + 1 < stack->frame_count && is_cut[stack->frame[first]])
		first++;
	return first + 1 == stack->frame_count ? first : 0;
}

/* There are few frames beside the places of all stacks: so each is compared once. */
int allocator_frames_cut(struct profile *profile)
{
	bool *is_cut = malloc((profile->frame_count + 1) * sizeof(*is_cut));

	if (!is_cut)
		return -ENOMEM;
	for (size_t i = 0; i < profile->frame_count; i++)
		is_cut[i] = is_allocator(profile, &profile->frame[i]);
	for (size_t i = 0; i < profile->stack_count; i++) {
		struct profile_stack *stack = &profile->stack[i];
		uint32_t *frame = (uint32_t *)(uintptr_t)stack->frame, cut;

		cut = count_cut(is_cut, stack);
		if (!cut)
			cut = count_but_one(is_cut, stack);
		stack->frame_count -= cut;
		memmove(frame, frame + cut, stack->frame_count * sizeof(*frame));
	}
	free(is_cut);
	return 0;
}
