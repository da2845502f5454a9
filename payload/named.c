/* SPDX-License-Identifier: MIT */
/*
 * named.c - handlers of the functions of pools and arenas that the user has named. The words of
 * their gate entries say which argument is what.
 *
 * Their blocks lie in memory that malloc has given. So they are sampled like blocks of malloc, by
 * the thread's countdown, but recorded apart.
 *
 * NESTING. A named function that another one calls is not counted. What malloc gives meanwhile is:
 * the original runs outside of any hook scope. Its frame is counted in hi_thread_table.named, from
 * before the scope ends to the last instruction of the stub.
 *
 * The payload knows of a named function what the user has said, and no more. So whatever is read is
 * read only where memory is known to be.
 */
#include "hooks.h"

#include "hook_scope.h"
#include "live_set.h"
#include "regions.h"

/* no user space address is as large, and no pool gives as much at once */
#define ADDRESS_MAX (1ull << HI_ARCH_ADDRESS_BITS)
#define SIZE_MAX_OF_POOL (1ull << 40)
#define ADDRESS_MIN (1ull << 20) /* of what is a size below that no address is thought of */
/* in the live set: a block of a pool may have the very address of the block that it lies in */
#define OF_POOL (1ull << 63)

struct named_call {
	struct hook_scope scope;
	struct hi_named_arguments is;
	uint32_t *guard;
	struct hi_named_frame *frame;
	bool is_inner; /* called by another named function */
};

static uint64_t argument(const struct named_call *named, uint8_t number)
{
	return number ? named->scope.call->argument[(number - 1) % 6] : 0;
}

static uint64_t pointer(const struct named_call *named, uint8_t number)
{
	return hi_untagged(argument(named, number));
}

static uint64_t number_in(const struct named_call *named, uint8_t number, bool is_int)
{
	const uint64_t value = argument(named, number);

	return is_int ? (uint32_t)value : value;
}

static uint64_t bytes_of(const struct named_call *named)
{
	const uint64_t size = number_in(named, named->is.size, named->is.size_is_int);
	uint64_t bytes;

	if (!named->is.count)
		return size;
	return __builtin_mul_overflow(
		       size, number_in(named, named->is.count, named->is.count_is_int), &bytes)
		       ? UINT64_MAX
		       : bytes;
}

/*
 * An address is no size. In programs that are not PIE those of the heap may be sizes as well, and
 * only debug information tells.
 */
static bool is_no_size(const struct named_call *named, uint64_t bytes)
{
	struct region region;

	return bytes >= SIZE_MAX_OF_POOL ||
	       (!named->is.size_is_known && bytes >= ADDRESS_MIN &&
		regions_find(named->scope.event.state, bytes, &region));
}

static bool is_armed(const struct hook_scope *scope)
{
	return __atomic_load_n(&scope->event.state->armed, __ATOMIC_ACQUIRE);
}

static void note(struct named_call *named, enum hi_named_change change, uint64_t address,
		 uint64_t pool)
{
	struct hook_scope *scope = &named->scope;

	if ((address || pool) && is_armed(scope) && hook_scope_may_record(scope))
		record_named(&scope->event, change, address, pool, scope->call->words->function);
}

static uint32_t number_of(const struct hook_call *call)
{
	return (call->words->function - HI_FN_NAMED_ALLOC_0) % HI_NAMED_MAX;
}

static void count(const struct named_call *named, bool is_senseless)
{
	struct hi_control *control = hook_scope_control(&named->scope);
	const uint32_t number = number_of(named->scope.call);

	record_count(named->scope.event.state, is_senseless ? &control->named[number].senseless
							    : &control->named[number].calls);
}

/*
 * Whether arguments on the stack, and what lies in their place where there are none, may be read:
 * in the page of the return address, or on the thread's own stack.
 */
static bool may_read_stack(const struct hook_scope *scope)
{
	const uint64_t at = (uint64_t)(scope->call + 1), bytes = HI_ARCH_STACK_ARGUMENTS * 8,
		       page_end = ((at - 8) | (HI_PAGE_BYTES - 1)) + 1;

	return page_end - at >= bytes ||
	       regions_are_on_own_stack(scope->event.state, scope->event.thread, at - 8,
					at + bytes - 1);
}

/*
 * Is the outermost named call of the thread on the stack of this one, above it? Where it is on
 * another stack, that belongs to another coroutine, which waits within its call.
 */
static bool is_on_this_stack(const struct hook_scope *scope, uint64_t outermost)
{
	const uint64_t sp = (uint64_t)scope->call;
	struct region region;

	return sp < outermost && regions_find(scope->event.state, sp, &region) &&
	       outermost < region.hi;
}

/* Is the thread in a named function already? If not, it is now. */
static bool enter(struct named_call *named)
{
	struct hook_scope *scope = &named->scope;
	struct hi_thread_table *table = place_table(scope->event.state);
	struct hi_named_frame *frame = &table->named_frame[scope->event.slot - table->slot];
	const enum nesting nesting = frame->thread == scope->event.thread
					     ? nesting_of(scope->event.state, scope->event.thread,
							  scope->call, frame->at, named->guard)
					     : NESTING_NONE;

	named->frame = frame;
	named->is_inner = nesting == NESTING_INNER ||
			  (nesting == NESTING_UNKNOWN && is_on_this_stack(scope, frame->at));
	if (named->is_inner)
		return false;
	*named->frame =
		(struct hi_named_frame){.thread = scope->event.thread, .at = (uint64_t)scope->call};
	return true;
}

/* False: the original is to run without a frame of ours. */
static bool begin(struct named_call *named)
{
	struct hook_scope *scope = &named->scope;

	named->guard = &place_table(scope->event.state)->named;
	return scope->nesting == NESTING_NONE && scope->has_slot && scope->has_place &&
	       may_read_stack(scope) && scope->call->words->return_gadget && enter(named);
}

/*
 * Runs the original outside of the hook scope, and begins a new one. False: nothing may be recorded
 * any more.
 */
static bool run(struct named_call *named, struct arch_words *out_value)
{
	struct hook_scope *scope = &named->scope;
	struct hook_call *call = scope->call;

	hook_scope_account(scope);
	__atomic_fetch_add(named->guard, 1, __ATOMIC_ACQ_REL);
	hook_scope_step_out(scope, named->guard);
	*out_value = arch_call_whole(call, call->words->original, HI_ARCH_STACK_ARGUMENTS);
	if (!is_armed(scope)) {
		/* a child that was forked meanwhile has no counts */
		if (!__atomic_load_n(&scope->event.state->unforked, __ATOMIC_RELAXED))
			call->guard = NULL;
		return false;
	}
	named->frame->at = 0;
	if (hook_scope_begin(scope, call))
		return true;
	call->guard = named->guard;
	return false;
}

/* Nothing reads the arguments any more. */
static struct hook_outcome give_back(struct hook_call *call, struct arch_words value)
{
	call->argument[2] = value.second;
	return (struct hook_outcome){.result = value.first, .pass = HOOK_WHOLE};
}

static struct hook_outcome end(struct named_call *named, struct arch_words value)
{
	hook_scope_account(&named->scope);
	hook_scope_step_out(&named->scope, named->guard);
	return give_back(named->scope.call, value);
}

/* Always inlined, for the same reason as sample() in hooks.c. */
__attribute__((always_inline)) static inline void sample(struct named_call *named, uint64_t address,
							 uint64_t bytes)
{
	struct hook_scope *scope = &named->scope;
	struct hi_state *state = scope->event.state;
	const uint64_t pool = pointer(named, named->is.pool);
	struct stack_end stack;

	if (scope->nesting != NESTING_NONE || !scope->has_place || !is_armed(scope))
		return;
	stack = stack_capture(state, scope->event.thread, scope->call,
			      record_scratch(&scope->event));
	scope->event.slack = HI_SLACK_UNKNOWN;
	if (!hook_scope_may_record(scope))
		return;
	if (named->is.is_filtered && !live_set_insert(state, address | OF_POOL)) {
		record_count(state, &hook_scope_control(scope)->counters.live_set_full);
		return;
	}
	if (!record_alloc(&scope->event, scope->call, stack,
			  (struct record_block){.address = address, .bytes = bytes})) {
		if (named->is.is_filtered)
			live_set_remove(state, address | OF_POOL);
	} else if (pool) {
		/* the reader takes a thread's records in the order of their times */
		scope->event.cycles = 0;
		note(named, HI_NAMED_POOLED, address, pool);
	}
}

/* The block goes, if it may be a sample. */
static bool take_out(struct named_call *named, uint64_t address)
{
	if (!address || (named->is.is_filtered &&
			 !live_set_remove(named->scope.event.state, address | OF_POOL)))
		return false;
	note(named, HI_NAMED_FREED, address, 0);
	return true;
}

static void put_back(struct named_call *named, uint64_t address)
{
	if (named->is.is_filtered && !live_set_insert(named->scope.event.state, address | OF_POOL))
		record_count(named->scope.event.state,
			     &hook_scope_control(&named->scope)->counters.live_set_full);
	else
		note(named, HI_NAMED_KEPT, address, 0);
}

/*
 * Where the argument points the original has stored, if the user is right. If he is not, that may
 * be anywhere, or gone by now: so it is read on the caller's own stack only. UINT64_MAX: there is
 * no block, or none that may be looked for.
 */
static uint64_t block_of(const struct named_call *named, uint64_t value)
{
	const struct hook_scope *scope = &named->scope;
	const uint64_t at = pointer(named, named->is.block), sp = (uint64_t)(scope->call + 1);

	if (named->is.kind != HI_NAMED_STORED)
		return hi_untagged(value);
	return at % sizeof(uint64_t) || at < sp ||
			       !regions_are_on_own_stack(scope->event.state, scope->event.thread,
							 sp, at)
		       ? UINT64_MAX
		       : hi_untagged(*(const uint64_t *)at);
}

struct hook_outcome hook_named_alloc(struct hook_call *call)
{
	struct named_call named = {.is = call->words->named};
	const bool is_moved = named.is.kind == HI_NAMED_MOVED;
	struct arch_words value;
	uint64_t bytes, old, block;
	bool is_due, is_senseless, was_taken;

	if (!hook_scope_begin(&named.scope, call))
		return HOOK_SCOPE_PASS;
	old = is_moved ? pointer(&named, named.is.block) : 0;
	if (!begin(&named)) {
		/* what the outer one gives is another block, most likely this one's */
		if (named.is_inner)
			take_out(&named, old);
		return hook_scope_pass(&named.scope);
	}
	count(&named, false);
	bytes = bytes_of(&named);
	is_senseless = is_no_size(&named, bytes);
	is_due = !is_senseless && hook_scope_is_sample_due(&named.scope, bytes);
	was_taken = take_out(&named, old);
	if (!run(&named, &value))
		return give_back(call, value);
	block = block_of(&named, value.first);
	if (is_senseless || block >= ADDRESS_MAX)
		count(&named, true);
	else if (block && is_due)
		sample(&named, block, bytes);
	if (was_taken && !block && bytes)
		put_back(&named, old);
	else if (was_taken && !named.is.is_filtered && block != old && block < ADDRESS_MAX)
		note(&named, HI_NAMED_POOL_MOVED, old, block);
	return end(&named, value);
}

struct hook_outcome hook_named_free(struct hook_call *call)
{
	struct named_call named = {.is = call->words->named};

	if (!hook_scope_begin(&named.scope, call))
		return HOOK_SCOPE_PASS;
	take_out(&named, pointer(&named, named.is.block));
	note(&named, HI_NAMED_POOL_GONE, 0, pointer(&named, named.is.pool));
	return hook_scope_pass(&named.scope);
}
