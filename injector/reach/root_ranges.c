/* SPDX-License-Identifier: MIT */
/*
 * root_ranges.c - see root_ranges.h.
 *
 * The kernel merges adjacent mappings. So a mapping may hold more than a stack or the thread-local
 * storage, and its end is not where these end: glibc and musl put the thread descriptor, to which
 * the thread pointer leads, at the end of both.
 */
#include "root_ranges.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf_segment.h"

/* glibc has the size of its descriptor for debuggers; others have smaller ones than any of glibc */
#define DESCRIPTOR_SIZE_SYMBOL "_thread_db_sizeof_pthread"
#define DESCRIPTOR_BYTES 2304u
#define DESCRIPTOR_BYTES_MAX 65536u
/* what glibc keeps for libraries that come later, and the most that an alignment may take */
#define SURPLUS_BYTES 4096u
#define TLS_BYTES_MAX (1ull << 30)
#define STACK_PATH "[stack]"

static int add(struct root_ranges *roots, remote_addr lo, remote_addr hi)
{
	if (lo >= hi)
		return 0;
	if (roots->count == roots->room) {
		const size_t room = roots->room ? 2 * roots->room : 64;
		struct root_range *grown = realloc(roots->range, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		roots->range = grown;
		roots->room = room;
	}
	roots->range[roots->count++] = (struct root_range){lo, hi};
	return 0;
}

/* ---- objects --------------------------------------------------------------------------------- */

/*
 * The dynamic linker's first allocator, of before there is malloc, begins in the rest of its own
 * last page: that is a part of its data.
 */
static remote_addr data_end(const struct reach_target *target, const struct elf_image *image,
			    remote_addr end)
{
	const struct mapping *mapping = image->is_loader ? maps_find(target->maps, end - 1) : NULL;

	return mapping ? mapping->hi : end;
}

static int add_image(const struct reach_target *target, const struct elf_image *image,
		     struct root_ranges *roots)
{
	GElf_Phdr segment;
	size_t at = 0;
	int err = 0;

	while (!err && elf_segment_next(image->elf, PT_LOAD, &at, &segment)) {
		const remote_addr lo = image->bias + segment.p_vaddr;
		const remote_addr hi = lo + segment.p_memsz;

		if (segment.p_flags & PF_W && hi > lo)
			err = add(roots, lo, data_end(target, image, hi));
	}
	return err;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Bytes of thread-local storage below the thread pointer, at most. */
static uint64_t tls_bytes(const struct elf_images *images)
{
	uint64_t sum = SURPLUS_BYTES;

	for (size_t i = 0; i < images->count; i++) {
		GElf_Phdr segment;

		if (images->image[i].elf &&
		    elf_segment_find(images->image[i].elf, PT_TLS, &segment) &&
		    segment.p_memsz < TLS_BYTES_MAX && segment.p_align < TLS_BYTES_MAX)
			sum += segment.p_memsz + segment.p_align;
	}
	return sum < TLS_BYTES_MAX ? sum : TLS_BYTES_MAX;
}

static uint64_t descriptor_bytes(const struct reach_target *target)
{
	remote_addr at;
	uint32_t bytes;

	if (elf_images_resolve(target->images, DESCRIPTOR_SIZE_SYMBOL, &at, NULL) ||
	    memory_read(target->memory, at, &bytes, sizeof(bytes)) || !bytes ||
	    bytes > DESCRIPTOR_BYTES_MAX)
		return DESCRIPTOR_BYTES;
	return bytes;
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

struct tls {
	uint64_t below, above; /* the thread pointer, in bytes */
};

/*
 * The stack pointer of a thread may be outside of its own stack: in a signal handler with a stack
 * of its own, or in a coroutine. Then its own stack counts as a whole, and of the other one what is
 * above the stack pointer.
 */
static int add_thread(const struct reach_target *target, const struct thread_words *thread,
		      const struct tls *tls, struct root_ranges *roots)
{
	const struct mapping *stack = maps_find(target->maps, thread->sp);
	const struct mapping *own = maps_find(target->maps, thread->thread_pointer);
	const uint64_t below = thread->thread_pointer - tls->below;
	const uint64_t above = thread->thread_pointer + tls->above;
	const bool is_writable = own && own->writable;
	const bool is_at_end = is_writable && own == stack && thread->sp < thread->thread_pointer;
	const uint64_t begin = thread->sp - at_most(thread->below_sp, thread->sp);
	int err = 0;

	if (stack && stack->writable)
		err = add(roots, at_least(begin, stack->lo),
			  is_at_end ? at_most(above, stack->hi) : stack->hi);
	if (!err && is_writable && !is_at_end)
		err = add(roots, at_least(below < thread->thread_pointer ? below : 0, own->lo),
			  at_most(above, own->hi));
	/* its own stack lies below its descriptor; that of the first thread is added for itself */
	if (!err && is_writable && !is_at_end && thread->tid != target->pid)
		err = add(roots, own->lo, at_most(above, own->hi));
	return err;
}

/* That of the first thread, if that has not ended and is somewhere else. */
static int add_first_stack(const struct reach_target *target, struct root_ranges *roots)
{
	const struct mapping *stack = NULL;
	uint64_t sp = 0;

	for (size_t i = 0; i < target->maps->count; i++)
		if (!strcmp(target->maps->mapping[i].path, STACK_PATH))
			stack = &target->maps->mapping[i];
	for (size_t i = 0; i < target->thread_count; i++)
		if (target->thread[i].tid == target->pid)
			sp = target->thread[i].sp;
	return stack && sp && (sp < stack->lo || sp >= stack->hi) ? add(roots, stack->lo, stack->hi)
								  : 0;
}

int root_ranges_find(const struct reach_target *target, struct root_ranges *out_ranges)
{
	const struct tls tls = {.below = tls_bytes(target->images),
				.above = descriptor_bytes(target)};
	int err = 0;

	*out_ranges = (struct root_ranges){0};
	for (size_t i = 0; i < target->images->count && !err; i++)
		if (target->images->image[i].elf)
			err = add_image(target, &target->images->image[i], out_ranges);
	for (size_t i = 0; i < target->thread_count && !err; i++)
		err = add_thread(target, &target->thread[i], &tls, out_ranges);
	return err ? err : add_first_stack(target, out_ranges);
}

void root_ranges_close(struct root_ranges *roots)
{
	free(roots->range);
	*roots = (struct root_ranges){0};
}
