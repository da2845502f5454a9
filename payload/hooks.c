/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - the slow path: what happens when a sample is due, or a block that may be a sample is freed.
 *
 * A VISIT is one pass through a handler. visit_begin raises in_flight of the guard slot, so that detach knows that somebody is inside; the stub lowers it. Then
 * the handler either passes (the stub jumps to the original, nothing of us is left on the stack) or calls the original itself and returns its result.
 *
 * WHO COUNTS THE BYTES: an allocating gate entry subtracts the size where it finds the thread, and comes here only once nothing is left; all other ways
 * lead here uncounted. So is_sample_due subtracts in any case: it is either right, or makes less than nothing of nothing. Nothing must be less than that for long, as the gate compares without
 * signs: where a signal handler jumped away on the way here, the thread draws anew when it next frees a sample.
 *
 * NESTED calls (the original reaches another hooked function, or a signal handler interrupts a visit) are not sampled, for their bytes belong to the outer call or are
 * too few to matter; what they free is noticed like any other.
 *
 * AN ALLOCATION is told to the world after the original returned, and a free before it is called, so that the records about one address stand in the ring in the order
 * in which the application owned it. A realloc that fails has freed nothing: its FREE is taken back by an UNFREE.
 */
#include "hooks.h"

#include "clock.h"
#include "live_set.h"
#include "record.h"
#include "sample.h"
#include "stack_table.h"
#include "thread_slot.h"

#define VISIT_CYCLES_MAX 300000u /* some 0.1 ms; a visit that took longer was interrupted, and that time went to others */
#define TIMED_ONE_IN 16u         /* a power of two */

struct visit {
	struct record_event event; /* its cycles: when our own code began to run */
	struct hook_call *call;
	bool has_slot; /* the slot is the thread's own; else there was none to be had, and nothing is sampled */
	bool is_exact; /* each call is a sample */
	bool is_nested;
	uint8_t weight; /* the time that this visit takes counts so many times */
};

static const struct hook_outcome PASS = {.pass = 1};

static struct hook_outcome result(uint64_t value)
{
	return (struct hook_outcome){.result = value};
}

static struct hi_control *control_of(const struct visit *visit)
{
	return (struct hi_control *)visit->event.state->control;
}

static void disarm(struct visit *visit)
{
	if (__atomic_exchange_n(&visit->event.state->armed, 0, __ATOMIC_RELAXED))
		__atomic_fetch_add(&control_of(visit)->counters.deadman, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&visit->call->words->hook, visit->call->words->original, __ATOMIC_RELAXED);
}

static void draw(const struct visit *visit)
{
	struct hi_thread_slot *slot = visit->event.slot;
	uint32_t doublings = __atomic_load_n(&control_of(visit)->doublings, __ATOMIC_RELAXED);
	uint64_t interval = control_of(visit)->interval << (doublings & 63);
	bool is_exact = interval <= 1;

	slot->doublings = doublings;
	slot->countdown = is_exact ? 0 : sample_draw(&slot->random, interval);
	slot->fast_owner = !is_exact && thread_slot_is_fast(visit->event.state, slot, visit->event.thread) ? visit->event.thread : 0;
}

/*
 * Where each call is a visit, reading the clock for the account is a good part of what there is to account for. So one visit in TIMED_ONE_IN is timed, for all: chosen by bits of the clock that
 * no rhythm of the program can follow.
 */
static uint8_t weight_of(bool is_exact, uint64_t now)
{
	if (!is_exact)
		return 1;
	return now * HI_HASH >> 32 & (TIMED_ONE_IN - 1) ? 0 : TIMED_ONE_IN;
}

/*
 * An allocation looks at the clock once the original has returned, and no record depends on when it began. In exact mode nothing else does that a time of the thread's last visit would not do for,
 * unless this visit is timed.
 */
#define NO_CLOCK_YET 0u

static void visit_set_clock(struct visit *visit, uint64_t now, const struct hi_thread_slot *slot)
{
	uint64_t known = now == NO_CLOCK_YET && visit->is_exact && slot ? __atomic_load_n(&slot->last_seen, __ATOMIC_RELAXED) : now;

	visit->weight = weight_of(visit->is_exact, known);
	visit->event.cycles = now == NO_CLOCK_YET && visit->weight ? clock_about_now() : known;
}

static uint64_t clock_of(const struct hook_call *call)
{
	return clock_now((const struct hi_state *)call->words->state);
}

/* now: in order with other threads, where a record may be told by that time. */
static bool visit_begin(struct visit *visit, struct hook_call *call, uint64_t now)
{
	struct hi_state *state = (struct hi_state *)call->words->state;
	uint64_t thread = arch_thread_pointer();
	struct hi_thread_slot *slot = thread_slot_find(state, thread);
	bool is_new = !slot;

	/* One by one: all at once would clear the rest by a string instruction, which is slow to begin. */
	visit->event.state = state;
	visit->event.thread = thread;
	visit->call = call;
	visit->is_exact = __atomic_load_n(&control_of(visit)->interval, __ATOMIC_RELAXED) <= 1;
	visit_set_clock(visit, now, slot);
	now = visit->event.cycles;
	if (clock_is_deadman_due(control_of(visit), now)) {
		disarm(visit);
		return false;
	}
	if (is_new)
		slot = thread_slot_claim(state, thread, now);
	else
		__atomic_store_n(&slot->last_seen, now, __ATOMIC_RELAXED);
	visit->has_slot = slot != NULL;
	/* Without a slot we are still inside: the home slot lends the count of its guests. */
	visit->event.slot = slot ? slot : thread_slot_home(state, thread);
	visit->event.is_alone = thread_slot_is_first(visit->event.slot, thread);
	call->guard = visit->event.is_alone ? &visit->event.slot->in_flight : &visit->event.slot->guests;
	visit->is_nested = !thread_slot_enter(call->guard, visit->event.is_alone);
	if (slot && is_new) {
		slot->random = sample_seed(thread, now);
		draw(visit);
	}
	return true;
}

static void account(struct visit *visit)
{
	uint64_t cycles;

	if (!visit->weight)
		return;
	cycles = clock_about_now() - visit->event.cycles;
	visit->event.slot->cycles += (cycles < VISIT_CYCLES_MAX ? cycles : VISIT_CYCLES_MAX) * visit->weight;
}

static struct hook_outcome visit_pass(struct visit *visit)
{
	account(visit);
	return PASS;
}

static struct hook_outcome visit_end(struct visit *visit, uint64_t value)
{
	account(visit);
	return result(value);
}

/* Calls the original, or another function in its place; its time is not ours. Functions of fewer arguments ignore the rest. */
static uint64_t visit_call(struct visit *visit, uint64_t function, uint64_t argument1, uint64_t argument2)
{
	const uint64_t *argument = visit->call->argument;
	uint64_t value;

	account(visit);
	value = arch_call_original(argument[0], argument1, argument2, argument[3], function, &visit->call->bp);
	visit->event.cycles = clock_now(visit->event.state);
	if (visit->has_slot)
		__atomic_store_n(&visit->event.slot->last_seen, visit->event.cycles, __ATOMIC_RELAXED);
	return value;
}

static uint64_t visit_original(struct visit *visit)
{
	return visit_call(visit, visit->call->words->original, visit->call->argument[1], visit->call->argument[2]);
}

/* Whether this allocation is a sample; if its countdown has run out, a new one is drawn in any case. With --sample 1 it always has. */
static bool is_sample_due(struct visit *visit, uint64_t size)
{
	struct hi_thread_slot *slot = visit->event.slot;
	bool is_absurd = size > SAMPLE_DISTANCE_MAX; /* no allocator can serve it, and the gate may have led the countdown astray */

	if (!visit->has_slot) {
		record_count(visit->event.state, &control_of(visit)->counters.no_thread_slot);
		return false;
	}
	/* Nothing was drawn, and nothing will be. */
	if (visit->is_exact && !slot->doublings && !__atomic_load_n(&control_of(visit)->doublings, __ATOMIC_RELAXED)) {
		visit->event.doublings = 0;
		return !visit->is_nested && !is_absurd;
	}
	if (!is_absurd)
		slot->countdown -= (int64_t)size;
	if (slot->countdown > 0 && !is_absurd)
		return false;
	visit->event.doublings = (uint16_t)slot->doublings;
	draw(visit);
	return !visit->is_nested && !is_absurd;
}

/* Meanwhile the injector may have left, or (in a signal handler that forked) this may have become a child where all is wiped. */
static bool is_still_armed(const struct visit *visit)
{
	return __atomic_load_n(&visit->event.state->armed, __ATOMIC_ACQUIRE);
}

/*
 * Asks the allocator that gave the block, on the thread that it was given to, before the application knows of it: no other call of the allocator can be in its way, and it
 * may do no more than malloc itself. What another object calls malloc_usable_size knows nothing of this block, and is not asked.
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

/* What allocators keep of a block lies right before it, and will be needed in a moment: by the free that we are ahead of, or by slack_of. No cache may hold it. */
static void prefetch_block(const struct hi_state *state, uint64_t address)
{
	__builtin_prefetch((const void *)(address - 2 * sizeof(uint64_t)));
	live_set_prefetch(state, address);
}

/* Where glibc's malloc_usable_size looks, too: behind the block lies the word that says whether this one is in use. Elsewhere it is the application's, and will be written soon. */
static void prefetch_size(uint64_t address, uint64_t bytes)
{
	const uint64_t word = sizeof(uint64_t);

	__builtin_prefetch((const void *)(((address + bytes + word - 1) & ~(2 * word - 1)) + word));
}

static inline struct hi_scratch *scratch_of(const struct visit *visit)
{
	return thread_slot_scratch(visit->event.state, visit->event.slot, visit->event.is_alone);
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
	if (clock_is_deadman_due(control_of(visit), visit->event.cycles)) { /* no clock was read before, perhaps */
		disarm(visit);
		return;
	}
	prefetch_block(state, address);
	prefetch_size(address, bytes);
	stack = stack_capture(state, visit->event.thread, visit->call, scratch_of(visit));
	stack_table_prefetch(state, stack);
	if (scratch_of(visit)->trail.wanted)
		stack_learn(state, visit->call, scratch_of(visit));
	visit->event.slack = slack_of(visit, address, bytes);
	if (!live_set_insert(state, address))
		record_count(state, &control_of(visit)->counters.live_set_full);
	else if (!record_alloc(&visit->event, visit->call, stack, (struct record_block){.address = address, .bytes = bytes}))
		live_set_remove(state, address);
}

/* Takes a sampled block out and says so. False: not a sample. *out_told: the record fits into the ring. */
static bool take_out(const struct visit *visit, uint64_t address, bool *out_told)
{
	if (!address || !live_set_remove(visit->event.state, address))
		return false;
	*out_told = record_free(&visit->event, address);
	return true;
}

/* The block that take_out took is still there. */
static void put_back(const struct visit *visit, uint64_t address, bool was_told)
{
	struct hi_state *state = visit->event.state;

	if (!is_still_armed(visit))
		return;
	if (!live_set_insert(state, address))
		record_count(state, &control_of(visit)->counters.live_set_full);
	else if (was_told && !record_unfree(&visit->event, address))
		live_set_remove(state, address);
}

/* by_import: the original may reach another hooked function. See reallocate(). */
static struct hook_outcome allocate(struct hook_call *call, uint64_t size, bool by_import)
{
	struct visit visit;
	uint64_t block;
	bool is_due;

	if (!visit_begin(&visit, call, NO_CLOCK_YET))
		return PASS;
	is_due = is_sample_due(&visit, size);
	if (!is_due && !by_import)
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

	if (!visit_begin(&visit, call, NO_CLOCK_YET))
		return PASS;
	if (!is_sample_due(&visit, size))
		return visit_pass(&visit);
	error = visit_original(&visit);
	if (!(int)error)
		sample(&visit, *(const uint64_t *)call->argument[0], size);
	return visit_end(&visit, error);
}

/*
 * Throwing operator new. An exception cannot pass a frame without unwind information, and ours has none; so the variant that returns NULL is called, and on NULL
 * the throwing one takes our place, to try again and throw by itself.
 */
static struct hook_outcome allocate_or_throw(struct hook_call *call, bool is_aligned)
{
	uint64_t nothrow_tag = (uint64_t)call; /* std::nothrow_t is empty: any address will do */
	struct visit visit;
	uint64_t block;

	if (!visit_begin(&visit, call, NO_CLOCK_YET))
		return PASS;
	if (!is_sample_due(&visit, call->argument[0]) || !call->words->nothrow)
		return visit_pass(&visit);
	block = visit_call(&visit, call->words->nothrow, is_aligned ? call->argument[1] : nothrow_tag, nothrow_tag);
	if (!block)
		return visit_pass(&visit);
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
 * Between the real free of the old block and our learning of it, another thread may be given its address, and sample it. So the old block goes out first, and comes in
 * again if the call failed. The new block is a sample or not by its own luck, like one from malloc.
 *
 * libc's reallocarray calls realloc by way of its own import, which is hooked as well. Were it not called from within the visit, so that realloc is a nested call, the block would have two chances to be a sample.
 */
enum realloc_kind { REALLOC_ZERO_FREES, REALLOC_NEVER_FREES, REALLOC_BY_REALLOC };

static struct hook_outcome reallocate(struct hook_call *call, uint64_t size, enum realloc_kind kind)
{
	struct visit visit;
	uint64_t old = call->argument[0], block;
	bool was_sampled, is_due, was_told = false;

	if (!visit_begin(&visit, call, clock_of(call)))
		return PASS;
	was_sampled = take_out(&visit, old, &was_told);
	is_due = is_sample_due(&visit, size);
	if (!was_sampled && !is_due && kind != REALLOC_BY_REALLOC)
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

	if (!visit_begin(&visit, call, clock_of(call)))
		return PASS;
	real_size = visit_original(&visit);
	if (real_size >= size && is_still_armed(&visit)) {
		take_out(&visit, call->argument[0], &told);
		visit.event.cycles = clock_now(visit.event.state); /* what comes after a free bears a later time */
		if (is_sample_due(&visit, size))
			sample(&visit, call->argument[0], size);
	}
	return visit_end(&visit, real_size);
}

struct hook_outcome hook_free(struct hook_call *call)
{
	struct visit visit;
	bool told;

	prefetch_block((const struct hi_state *)call->words->state, call->argument[0]);
	if (!visit_begin(&visit, call, clock_of(call)))
		return PASS;
	take_out(&visit, call->argument[0], &told);
	if (visit.has_slot && !visit.is_nested && visit.event.slot->countdown < 0)
		draw(&visit);
	return visit_pass(&visit);
}
