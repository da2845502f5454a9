/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - the slow path: what happens when a sample is due, or when a block that may be a sample
 * is freed.
 *
 * ORDER. The payload records an allocation after the original returned, and a free before the
 * original is called. So the records about one address are in the ring in the order in which the
 * application owned it. A realloc that fails has freed nothing: an UNFREE record cancels its FREE.
 */
#include "hooks.h"

#include "live_set.h"
#include "stack_table.h"
#include "hook_scope.h"
#include "unsampled_frees.h"

/*
 * While the original ran, the injector may have detached. Or a signal handler may have forked, and
 * this is the child, in which `armed` is wiped.
 */
static bool is_still_armed(const struct hook_scope *scope)
{
	return __atomic_load_n(&scope->event.state->armed, __ATOMIC_ACQUIRE);
}

/*
 * Asks the allocator that returned the block for its usable size. It does so on the same thread,
 * before the application knows of the block, so no other call to the allocator can interfere. The
 * query may do no more than malloc itself, which has just run there. A malloc_usable_size of
 * another object knows nothing of this block, and is not asked.
 */
static uint32_t slack_of(const struct hook_scope *scope, uint64_t block, uint64_t bytes)
{
	uint64_t function = scope->call->words->usable_size, usable;

	if (!function)
		return HI_SLACK_UNKNOWN;
	usable = ((uint64_t(*)(uint64_t))function)(block);
	if (usable < bytes)
		return HI_SLACK_UNKNOWN;
	return usable - bytes < HI_SLACK_UNKNOWN ? (uint32_t)(usable - bytes)
						 : HI_SLACK_UNKNOWN - 1;
}

/*
 * Prefetches an allocator's metadata of a block, which lies directly before it, and the block's
 * buckets in the live set. The metadata will be needed soon: by the free that is about to run, or
 * by slack_of. No cache may hold it.
 */
static void prefetch_block(const struct hi_state *state, uint64_t block)
{
	__builtin_prefetch((const void *)(block - 2 * sizeof(uint64_t)));
	live_set_prefetch(state, hi_untagged(block));
}

/*
 * Prefetches the word after the block, which glibc's malloc_usable_size also reads: it says whether
 * this block is in use. With other allocators that word belongs to the application, which will
 * write it soon.
 */
static void prefetch_size(uint64_t address, uint64_t bytes)
{
	const uint64_t word = sizeof(uint64_t);

	__builtin_prefetch((const void *)(((address + bytes + word - 1) & ~(2 * word - 1)) + word));
}

/*
 * Takes a sample. Each step prefetches the memory that the next steps need, and has work to do
 * until it arrives.
 *
 * Always inlined: that saves one frame on a stack that may be small.
 */
__attribute__((always_inline)) static inline void sample(struct hook_scope *scope, uint64_t block,
							 uint64_t bytes)
{
	struct hi_state *state = scope->event.state;
	const uint64_t address = hi_untagged(block);
	struct stack_end stack;

	if (!block || !is_still_armed(scope))
		return;
	prefetch_block(state, block);
	prefetch_size(block, bytes);
	stack = stack_capture(state, scope->event.thread, scope->call,
			      record_scratch(&scope->event));
	if (!stack.id)
		stack_table_prefetch(state, stack);
	scope->event.slack = slack_of(scope, block, bytes);
	if (!hook_scope_may_record(scope))
		return;
	if (!live_set_insert(state, address))
		record_count(state, &hook_scope_control(scope)->counters.live_set_full);
	else if (!record_alloc(&scope->event, scope->call, stack,
			       (struct record_block){.address = address, .bytes = bytes}))
		live_set_remove(state, address);
	else if (__builtin_expect(state->probe_alloc != 0, 0))
		hook_scope_return_by_probe(scope, address, bytes);
}

/* A realloc that fails has freed nothing, and the probe has no word for that. */
__attribute__((noinline)) static void tell_probe_of_free(const struct hi_state *state,
							 uint64_t address)
{
	const uint64_t probe = __atomic_load_n(&state->probe_free, __ATOMIC_RELAXED);

	if (probe)
		((void (*)(uint64_t))probe)(address);
}

/*
 * Removes a sampled block from the live set and records its free. False: the block is no sample.
 * *out_recorded: the record was put into the ring.
 */
static inline bool take_out(struct hook_scope *scope, uint64_t block, bool *out_recorded)
{
	const uint64_t address = hi_untagged(block);

	if (!address || !hook_scope_may_record(scope) ||
	    !live_set_remove(scope->event.state, address))
		return false;
	*out_recorded = record_free(&scope->event, address);
	if (__builtin_expect(scope->event.state->probe_free != 0, 0))
		tell_probe_of_free(scope->event.state, address);
	return true;
}

/*
 * Puts back a block that take_out has removed, as the block is still allocated. was_recorded: its
 * free was recorded.
 */
static void put_back(struct hook_scope *scope, uint64_t block, bool was_recorded)
{
	struct hi_state *state = scope->event.state;
	const uint64_t address = hi_untagged(block);

	if (!is_still_armed(scope) || !hook_scope_may_record(scope))
		return;
	if (!live_set_insert(state, address))
		record_count(state, &hook_scope_control(scope)->counters.live_set_full);
	else if (was_recorded && !record_unfree(&scope->event, address))
		live_set_remove(state, address);
}

/* by_import: the original may reach another hooked function. See reallocate(). */
static struct hook_outcome allocate(struct hook_call *call, uint64_t size, bool by_import)
{
	struct hook_scope scope;
	uint64_t block;
	bool is_due;

	if (!hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	is_due = hook_scope_is_sample_due(&scope, size);
	if (!is_due && !by_import && !call->words->nests)
		return hook_scope_pass(&scope);
	block = hook_scope_original(&scope);
	if (is_due)
		sample(&scope, block, size);
	return hook_scope_end(&scope, block);
}

struct hook_outcome hook_alloc(struct hook_call *call)
{
	return allocate(call, call->argument[0], false);
}

struct hook_outcome hook_alloc_sizearg2(struct hook_call *call)
{
	return allocate(call, call->argument[1], false);
}

/* musl's memalign calls aligned_alloc through an import. */
struct hook_outcome hook_memalign(struct hook_call *call)
{
	return allocate(call, call->argument[1], true);
}

/*
 * The original refuses a product that overflows. Saturated, the size counts as absurd, so that the
 * hook discards the countdown that the gate computed with it.
 */
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
	struct hook_scope scope;
	uint64_t size = call->argument[2], err;
	bool is_due;

	if (!hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	is_due = hook_scope_is_sample_due(&scope, size);
	if (!is_due && !call->words->nests)
		return hook_scope_pass(&scope);
	err = hook_scope_original(&scope);
	if (!(int)err && is_due)
		sample(&scope, *(const uint64_t *)call->argument[0], size);
	return hook_scope_end(&scope, err);
}

/*
 * Throwing operator new. If it ended in another way than by return (an exception, a cancellation, a
 * jump), this hook scope would stay open. So the hook calls another function, which returns NULL on
 * failure. On NULL the hook passes, and the throwing operator runs in its place: it tries again,
 * asks the new-handler, and throws by itself.
 *
 * The other function is malloc or memalign if their blocks are of the same kind; these ask no
 * new-handler. The nothrow variant does ask it. The handler would then run twice, and if it threw
 * an exception or ended its thread, the process would end there. So the nothrow variant is called
 * only if no handler is set, or if it cannot be known.
 */
static uint64_t allocate_without_handler(struct hook_scope *scope, bool is_aligned)
{
	const struct hi_gate_words *words = scope->call->words;
	const uint64_t size = scope->call->argument[0], alignment = scope->call->argument[1];
	/* std::nothrow_t is empty: any address will do */
	const uint64_t nothrow_tag = (uint64_t)scope->call;

	if (words->plain)
		return is_aligned ? hook_scope_call(scope, words->plain, alignment, size, 0)
				  : hook_scope_call(scope, words->plain, size, 0, 0);
	if (!words->nothrow || (words->new_handler && *(const uint64_t *)words->new_handler))
		return 0;
	return hook_scope_call(scope, words->nothrow, size, is_aligned ? alignment : nothrow_tag,
			       nothrow_tag);
}

static struct hook_outcome allocate_or_throw(struct hook_call *call, bool is_aligned)
{
	struct hook_scope scope;
	uint64_t block;
	bool is_due;

	if (!hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	is_due = hook_scope_is_sample_due(&scope, call->argument[0]);
	if (!is_due && !call->words->nests)
		return hook_scope_pass(&scope);
	block = allocate_without_handler(&scope, is_aligned);
	if (!block)
		return hook_scope_pass(&scope);
	if (is_due)
		sample(&scope, block, call->argument[0]);
	return hook_scope_end(&scope, block);
}

/*
 * In the place of a throwing function: has another one, which takes the same arguments and does not
 * throw, allocate. If that fails, the throwing one runs.
 */
static struct hook_outcome finish_by_plain(struct hook_scope *scope, struct hook_call *call,
					   uint64_t size, bool is_due)
{
	const uint64_t *argument = call->argument;
	const uint64_t block =
		hook_scope_call(scope, call->words->plain, argument[0], argument[1], argument[2]);

	if (!block)
		return hook_scope_pass(scope);
	if (is_due)
		sample(scope, block, size);
	return hook_scope_end(scope, block);
}

/* Throwing as well. size: the bytes that the arguments ask for. */
static struct hook_outcome allocate_by_plain(struct hook_call *call, uint64_t size)
{
	struct hook_scope scope;
	bool is_due;

	if (!hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	is_due = hook_scope_is_sample_due(&scope, size);
	if (!call->words->plain || (!is_due && !call->words->nests))
		return hook_scope_pass(&scope);
	return finish_by_plain(&scope, call, size, is_due);
}

struct hook_outcome hook_new_n(struct hook_call *call)
{
	return allocate_by_plain(call, product(call->argument[0], call->argument[1]));
}

struct hook_outcome hook_heap_new(struct hook_call *call)
{
	return allocate_by_plain(call, call->argument[1]);
}

struct hook_outcome hook_heap_new_n(struct hook_call *call)
{
	return allocate_by_plain(call, product(call->argument[1], call->argument[2]));
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
 * Between the real free of the old block and the return of the original, another thread may be
 * given the old address, and sample it. So the hook removes the old block first, and puts it back
 * if the call failed. The new block is a sample or not by its own countdown, like a block from
 * malloc.
 *
 * libc's reallocarray calls realloc through its own import, which is hooked as well. So the hook
 * calls reallocarray from within the hook scope, and realloc is a nested call. Otherwise the block
 * would have two chances to be a sample.
 */
enum realloc_kind {
	REALLOC_ZERO_FREES,
	REALLOC_NEVER_FREES,
	REALLOC_FAILURE_FREES,
	REALLOC_BY_REALLOC
};

static struct hook_outcome reallocate(struct hook_call *call, uint64_t old, uint64_t size,
				      enum realloc_kind kind)
{
	struct hook_scope scope;
	uint64_t block;
	bool was_sampled, is_due, was_recorded = false;

	if (!hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	was_sampled = take_out(&scope, old, &was_recorded);
	if (!was_sampled)
		unsampled_frees_look(&scope, old);
	is_due = hook_scope_is_sample_due(&scope, size);
	if (!was_sampled && !is_due && kind != REALLOC_BY_REALLOC && !call->words->nests)
		return hook_scope_pass(&scope);
	block = hook_scope_original(&scope);
	if (block && is_due)
		sample(&scope, block, size);
	if (!block && was_sampled && kind != REALLOC_FAILURE_FREES &&
	    !(kind != REALLOC_NEVER_FREES && size == 0))
		put_back(&scope, old, was_recorded);
	return hook_scope_end(&scope, block);
}

struct hook_outcome hook_realloc(struct hook_call *call)
{
	return reallocate(call, call->argument[0], call->argument[1], REALLOC_ZERO_FREES);
}

struct hook_outcome hook_reallocarray(struct hook_call *call)
{
	return reallocate(call, call->argument[0], product(call->argument[1], call->argument[2]),
			  REALLOC_BY_REALLOC);
}

struct hook_outcome hook_rallocx(struct hook_call *call)
{
	return reallocate(call, call->argument[0], call->argument[1], REALLOC_NEVER_FREES);
}

struct hook_outcome hook_reallocf(struct hook_call *call)
{
	return reallocate(call, call->argument[0], call->argument[1], REALLOC_FAILURE_FREES);
}

/*
 * Throwing as well. If the other function fails, the throwing one runs in its place. Then it is not
 * known what becomes of the old block: it counts as freed, and the new one is not sampled.
 */
static struct hook_outcome reallocate_by_plain(struct hook_call *call, uint64_t size)
{
	const uint64_t *argument = call->argument;
	struct hook_scope scope;
	bool was_sampled, is_due, was_recorded;

	if (!hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	was_sampled = take_out(&scope, argument[0], &was_recorded);
	if (!was_sampled)
		unsampled_frees_look(&scope, argument[0]);
	is_due = hook_scope_is_sample_due(&scope, size);
	if (!call->words->plain || (!was_sampled && !is_due && !call->words->nests))
		return hook_scope_pass(&scope);
	return finish_by_plain(&scope, call, size, is_due);
}

struct hook_outcome hook_new_realloc(struct hook_call *call)
{
	return reallocate_by_plain(call, call->argument[1]);
}

struct hook_outcome hook_new_reallocn(struct hook_call *call)
{
	return reallocate_by_plain(call, product(call->argument[1], call->argument[2]));
}

/* The block is the caller's only after the return, so its string ends where the original put it. */
struct hook_outcome hook_strdup(struct hook_call *call)
{
	struct hook_scope scope;
	const char *string;
	uint64_t block, size = 1;

	if (!hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	block = hook_scope_original(&scope);
	if (!block || !is_still_armed(&scope))
		return hook_scope_end(&scope, block);
	for (string = (const char *)block; *string; string++)
		size++;
	if (hook_scope_is_sample_due(&scope, size))
		sample(&scope, block, size);
	return hook_scope_end(&scope, block);
}

/* The block's address is in memory of the caller's. An error leaves it, and the block, as it was.
 */
struct hook_outcome hook_reallocarr(struct hook_call *call)
{
	const uint64_t *const block = (const uint64_t *)call->argument[0];
	const uint64_t size = product(call->argument[1], call->argument[2]);
	struct hook_scope scope;
	uint64_t old, err;
	bool was_sampled, is_due, was_recorded = false;

	if (!block || !hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	old = *block;
	was_sampled = take_out(&scope, old, &was_recorded);
	if (!was_sampled)
		unsampled_frees_look(&scope, old);
	is_due = hook_scope_is_sample_due(&scope, size);
	err = hook_scope_original(&scope);
	if (!(int)err && is_due)
		sample(&scope, *block, size);
	if ((int)err && was_sampled)
		put_back(&scope, old, was_recorded);
	return hook_scope_end(&scope, err);
}

/* mimalloc's functions that are given a heap. */
struct hook_outcome hook_heap_calloc(struct hook_call *call)
{
	return allocate(call, product(call->argument[1], call->argument[2]), false);
}

struct hook_outcome hook_heap_realloc(struct hook_call *call)
{
	return reallocate(call, call->argument[1], call->argument[2], REALLOC_ZERO_FREES);
}

struct hook_outcome hook_heap_reallocf(struct hook_call *call)
{
	return reallocate(call, call->argument[1], call->argument[2], REALLOC_FAILURE_FREES);
}

struct hook_outcome hook_heap_reallocn(struct hook_call *call)
{
	return reallocate(call, call->argument[1], product(call->argument[2], call->argument[3]),
			  REALLOC_ZERO_FREES);
}

/*
 * xallocx resizes in place or not at all. The block belongs to the caller throughout, so it may be
 * recorded after the call.
 */
struct hook_outcome hook_xallocx(struct hook_call *call)
{
	struct hook_scope scope;
	uint64_t size = call->argument[1], real_size;
	bool recorded;

	if (!hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	real_size = hook_scope_original(&scope);
	if (real_size >= size && is_still_armed(&scope)) {
		take_out(&scope, call->argument[0], &recorded);
		/* the alloc record must have a later time than the free record */
		scope.event.cycles = 0;
		if (hook_scope_is_sample_due(&scope, size))
			sample(&scope, call->argument[0], size);
	}
	return hook_scope_end(&scope, real_size);
}

struct hook_outcome hook_free(struct hook_call *call)
{
	struct hook_scope scope;
	bool recorded;

	prefetch_block((const struct hi_state *)call->words->state, call->argument[0]);
	if (!hook_scope_begin(&scope, call))
		return HOOK_SCOPE_PASS;
	if (!take_out(&scope, call->argument[0], &recorded))
		unsampled_frees_look(&scope, call->argument[0]);
	if (!scope.is_exact && scope.has_slot && scope.nesting == NESTING_NONE &&
	    scope.event.slot->countdown < 0)
		hook_scope_draw(scope.event.state, scope.event.slot, scope.event.thread);
	return hook_scope_pass(&scope);
}
