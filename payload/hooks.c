/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - the slow path: what happens when a sample is due, or a block that may be a sample is freed.
 *
 * AN ALLOCATION is told to the world after the original returned, and a free before it is called, so that the records about one address stand in the ring in
 * the order in which the application owned it. A realloc that fails has freed nothing: its FREE is taken back by an UNFREE.
 */
#include "hooks.h"

#include "live_set.h"
#include "stack_table.h"
#include "visit.h"

/* Meanwhile the injector may have left, or (in a signal handler that forked) this may have become a child where all is wiped. */
static bool is_still_armed(const struct visit *visit)
{
	return __atomic_load_n(&visit->event.state->armed, __ATOMIC_ACQUIRE);
}

/*
 * Asks the allocator that gave the block, on the thread that it was given to, before the application knows of it: no other call of the allocator can be in its
 * way, and it may do no more than malloc itself. What another object calls malloc_usable_size knows nothing of this block, and is not asked.
 */
static uint32_t slack_of(const struct visit *visit, uint64_t address, uint64_t bytes)
{
	uint64_t function = visit->call->words->usable_size, usable;

	if (!function)
		return HI_SLACK_UNKNOWN;
	usable = ((uint64_t(*)(uint64_t))function)(address);
	if (usable < bytes)
		return HI_SLACK_UNKNOWN;
	return usable - bytes < HI_SLACK_UNKNOWN ? (uint32_t)(usable - bytes) : HI_SLACK_UNKNOWN - 1;
}

/*
 * What allocators keep of a block lies right before it, and will be needed in a moment: by the free that we are ahead of, or by slack_of. No cache may hold it.
 */
static void prefetch_block(const struct hi_state *state, uint64_t address)
{
	__builtin_prefetch((const void *)(address - 2 * sizeof(uint64_t)));
	live_set_prefetch(state, address);
}

/*
 * Where glibc's malloc_usable_size looks, too: behind the block lies the word that says whether this one is in use. Elsewhere it is the application's, and will
 * be written soon.
 */
static void prefetch_size(uint64_t address, uint64_t bytes)
{
	const uint64_t word = sizeof(uint64_t);

	__builtin_prefetch((const void *)(((address + bytes + word - 1) & ~(2 * word - 1)) + word));
}

/*
 * Each step asks for the memory that the next ones need, and has work to do until it comes.
 *
 * Always inlined: one frame less on a stack that may be small.
 */
__attribute__((always_inline)) static inline void sample(struct visit *visit, uint64_t address, uint64_t bytes)
{
	struct hi_state *state = visit->event.state;
	struct stack_end stack;

	if (!address || !is_still_armed(visit))
		return;
	prefetch_block(state, address);
	prefetch_size(address, bytes);
	stack = stack_capture(state, visit->event.thread, visit->call, record_scratch(&visit->event));
	if (!stack.id)
		stack_table_prefetch(state, stack);
	visit->event.slack = slack_of(visit, address, bytes);
	if (!visit_may_tell(visit))
		return;
	if (!live_set_insert(state, address))
		record_count(state, &visit_control(visit)->counters.live_set_full);
	else if (!record_alloc(&visit->event, visit->call, stack, (struct record_block){.address = address, .bytes = bytes}))
		live_set_remove(state, address);
}

/* Takes a sampled block out and says so. False: not a sample. *out_told: the record fits into the ring. */
static inline bool take_out(struct visit *visit, uint64_t address, bool *out_told)
{
	if (!address || !visit_may_tell(visit) || !live_set_remove(visit->event.state, address))
		return false;
	*out_told = record_free(&visit->event, address);
	return true;
}

/* The block that take_out took is still there. */
static void put_back(struct visit *visit, uint64_t address, bool was_told)
{
	struct hi_state *state = visit->event.state;

	if (!is_still_armed(visit) || !visit_may_tell(visit))
		return;
	if (!live_set_insert(state, address))
		record_count(state, &visit_control(visit)->counters.live_set_full);
	else if (was_told && !record_unfree(&visit->event, address))
		live_set_remove(state, address);
}

/* by_import: the original may reach another hooked function. See reallocate(). */
static struct hook_outcome allocate(struct hook_call *call, uint64_t size, bool by_import)
{
	struct visit visit;
	uint64_t block;
	bool is_due;

	if (!visit_begin(&visit, call))
		return VISIT_PASS;
	is_due = visit_is_sample_due(&visit, size);
	if (!is_due && !by_import && !call->words->nests)
		return visit_pass(&visit);
	block = visit_original(&visit);
	if (is_due)
		sample(&visit, block, size);
	return visit_end(&visit, block);
}

struct hook_outcome hook_alloc(struct hook_call *call)
{
	return allocate(call, call->argument[0], false);
}

struct hook_outcome hook_alloc_sizearg2(struct hook_call *call)
{
	return allocate(call, call->argument[1], false);
}

/* musl's calls aligned_alloc by way of an import. */
struct hook_outcome hook_memalign(struct hook_call *call)
{
	return allocate(call, call->argument[1], true);
}

/* A product that overflows is the original's to refuse. Saturated it counts as absurd, so that whatever the gate made of it is forgotten. */
static uint64_t product(uint64_t count, uint64_t size)
{
	uint64_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) ? UINT64_MAX : bytes;
}

struct hook_outcome hook_calloc(struct hook_call *call)
{
	return allocate(call, product(call->argument[0], call->argument[1]), false);
}

struct hook_outcome hook_posix_memalign(struct hook_call *call)
{
	struct visit visit;
	uint64_t size = call->argument[2], error;
	bool is_due;

	if (!visit_begin(&visit, call))
		return VISIT_PASS;
	is_due = visit_is_sample_due(&visit, size);
	if (!is_due && !call->words->nests)
		return visit_pass(&visit);
	error = visit_original(&visit);
	if (!(int)error && is_due)
		sample(&visit, *(const uint64_t *)call->argument[0], size);
	return visit_end(&visit, error);
}

/*
 * Throwing operator new. Whatever leaves it in another way than by its return, be it an exception, a cancellation, or a jump, would leave this visit open.
 * So something else is called that returns NULL, and on NULL the throwing one takes our place, to try again, ask the new-handler, and throw by itself. It is
 * malloc or memalign, if their blocks are the same: these ask no new-handler. The nothrow variant does: a second time then, and an exception that the handler
 * throws, or the end of its thread, would end the process there. So it is called only where there is no handler, or none can be known.
 */
static uint64_t allocate_without_handler(struct visit *visit, bool is_aligned)
{
	const struct hi_gate_words *words = visit->call->words;
	const uint64_t size = visit->call->argument[0], alignment = visit->call->argument[1];
	const uint64_t nothrow_tag = (uint64_t)visit->call; /* std::nothrow_t is empty: any address will do */

	if (words->plain)
		return is_aligned ? visit_call(visit, words->plain, alignment, size, 0) : visit_call(visit, words->plain, size, 0, 0);
	if (!words->nothrow || (words->new_handler && *(const uint64_t *)words->new_handler))
		return 0;
	return visit_call(visit, words->nothrow, size, is_aligned ? alignment : nothrow_tag, nothrow_tag);
}

static struct hook_outcome allocate_or_throw(struct hook_call *call, bool is_aligned)
{
	struct visit visit;
	uint64_t block;
	bool is_due;

	if (!visit_begin(&visit, call))
		return VISIT_PASS;
	is_due = visit_is_sample_due(&visit, call->argument[0]);
	if (!is_due && !call->words->nests)
		return visit_pass(&visit);
	block = allocate_without_handler(&visit, is_aligned);
	if (!block)
		return visit_pass(&visit);
	if (is_due)
		sample(&visit, block, call->argument[0]);
	return visit_end(&visit, block);
}

struct hook_outcome hook_new(struct hook_call *call)
{
	return allocate_or_throw(call, false);
}

struct hook_outcome hook_new_aligned(struct hook_call *call)
{
	return allocate_or_throw(call, true);
}

/*
 * Between the real free of the old block and our learning of it, another thread may be given its address, and sample it. So the old block goes out first, and
 * comes in again if the call failed. The new block is a sample or not by its own luck, like one from malloc.
 *
 * libc's reallocarray calls realloc by way of its own import, which is hooked as well. Were it not called from within the visit, so that realloc is a nested
 * call, the block would have two chances to be a sample.
 */
enum realloc_kind { REALLOC_ZERO_FREES, REALLOC_NEVER_FREES, REALLOC_BY_REALLOC };

static struct hook_outcome reallocate(struct hook_call *call, uint64_t size, enum realloc_kind kind)
{
	struct visit visit;
	uint64_t old = call->argument[0], block;
	bool was_sampled, is_due, was_told = false;

	if (!visit_begin(&visit, call))
		return VISIT_PASS;
	was_sampled = take_out(&visit, old, &was_told);
	is_due = visit_is_sample_due(&visit, size);
	if (!was_sampled && !is_due && kind != REALLOC_BY_REALLOC && !call->words->nests)
		return visit_pass(&visit);
	block = visit_original(&visit);
	if (block && is_due)
		sample(&visit, block, size);
	if (!block && was_sampled && !(kind != REALLOC_NEVER_FREES && size == 0))
		put_back(&visit, old, was_told);
	return visit_end(&visit, block);
}

struct hook_outcome hook_realloc(struct hook_call *call)
{
	return reallocate(call, call->argument[1], REALLOC_ZERO_FREES);
}

struct hook_outcome hook_reallocarray(struct hook_call *call)
{
	return reallocate(call, product(call->argument[1], call->argument[2]), REALLOC_BY_REALLOC);
}

struct hook_outcome hook_rallocx(struct hook_call *call)
{
	return reallocate(call, call->argument[1], REALLOC_NEVER_FREES);
}

/* Resizes in place or not at all. The block stays the caller's throughout, so its record may follow the deed. */
struct hook_outcome hook_xallocx(struct hook_call *call)
{
	struct visit visit;
	uint64_t size = call->argument[1], real_size;
	bool told;

	if (!visit_begin(&visit, call))
		return VISIT_PASS;
	real_size = visit_original(&visit);
	if (real_size >= size && is_still_armed(&visit)) {
		take_out(&visit, call->argument[0], &told);
		visit.event.cycles = 0; /* what comes after a free bears a later time */
		if (visit_is_sample_due(&visit, size))
			sample(&visit, call->argument[0], size);
	}
	return visit_end(&visit, real_size);
}

struct hook_outcome hook_free(struct hook_call *call)
{
	struct visit visit;
	bool told;

	prefetch_block((const struct hi_state *)call->words->state, call->argument[0]);
	if (!visit_begin(&visit, call))
		return VISIT_PASS;
	take_out(&visit, call->argument[0], &told);
	if (!visit.is_exact && visit.has_slot && !visit.is_nested && visit.event.slot->countdown < 0)
		visit_draw(visit.event.state, visit.event.slot, visit.event.thread);
	return visit_pass(&visit);
}
