/* SPDX-License-Identifier: MIT */
/* record.c - builds records and puts them into the rings. */
#include "record.h"

#include "clock.h"
#include "stack_trie.h"
#include "ring.h"
#include "stack_table.h"
#include "thread_slot.h"

/* about 5 ms, or a unit of region_recorded: the injector does not react faster than that */
#define REGION_PAUSE (uint32_t)(arch_ticks(15000000) >> HI_REGION_RECORDED_SHIFT)

static struct hi_counters *counters_of(const struct record_event *event)
{
	return &((struct hi_control *)event->state->control)->counters;
}

void record_add(const struct hi_state *state, uint64_t *counter, uint64_t count)
{
	if (__atomic_load_n(&state->armed, __ATOMIC_RELAXED))
		__atomic_fetch_add(counter, count, __ATOMIC_RELAXED);
}

void record_count(const struct hi_state *state, uint64_t *counter)
{
	record_add(state, counter, 1);
}

static uint64_t *dropped_of(const struct record_event *event, enum hi_record_type type)
{
	switch (type) {
	case HI_RECORD_ALLOC:
	case HI_RECORD_KNOWN:
		return &counters_of(event)->dropped_allocs;
	case HI_RECORD_FREE:
	case HI_RECORD_MAPPING:
	case HI_RECORD_NAMED:
		return &counters_of(event)->dropped_frees;
	default:
		return NULL;
	}
}

/* Counts a record that was not put into a ring. */
__attribute__((noinline)) static bool
count_lost(const struct record_event *event, enum hi_record_type type, enum ring_outcome outcome)
{
	uint64_t *dropped = dropped_of(event, type);

	if (outcome == RING_LOST)
		record_count(event->state, &counters_of(event)->commit_lost);
	if (dropped && (outcome == RING_LOST || outcome == RING_FULL))
		record_count(event->state, dropped);
	return false;
}

/* A record in the form that ring_put takes: words, some of which hold two fields. */
struct words {
	uint64_t word[sizeof(struct hi_record_known) / 8];
};

static inline uint64_t word_of(uint64_t low, uint64_t high, unsigned high_at)
{
	return low | high << high_at;
}

static inline struct words words_of(const struct record_event *event, enum hi_record_type type,
				    uint64_t address)
{
	struct words words;

	words.word[0] = word_of(0, type, 32);
	words.word[1] = event->cycles;
	words.word[2] = event->thread;
	words.word[3] = address;
	return words;
}

/*
 * So many objects have been loaded so far. The code on this thread's stack is in memory until the
 * call returns. So it lies in objects that were in the list when it had this many.
 */
static inline uint16_t loads_now(const struct hi_state *state)
{
	const uint64_t *count = (const uint64_t *)state->load_count;

	return count ? (uint16_t)__atomic_load_n(count, __ATOMIC_RELAXED) : 0;
}

static inline struct words known_of(const struct record_event *event, const struct hook_call *call,
				    struct record_block block, uint32_t stack)
{
	struct words words = words_of(event, HI_RECORD_KNOWN, block.address);

	words.word[4] = block.bytes;
	words.word[5] =
		word_of(word_of(stack, loads_now(event->state), 32), call->words->function, 48);
	words.word[6] = word_of(event->slack, event->interval_shift, 32);
	return words;
}
_Static_assert(offsetof(struct hi_record_header, type_busy) == 4 &&
		       offsetof(struct hi_record_header, cycles) == 8 &&
		       offsetof(struct hi_record_header, thread) == 16 &&
		       offsetof(struct hi_record_free, address) == 24 &&
		       offsetof(struct hi_record_known, address) == 24 &&
		       offsetof(struct hi_record_known, bytes) == 32 &&
		       offsetof(struct hi_record_known, stack) == 40 &&
		       offsetof(struct hi_record_known, loads) == 44 &&
		       offsetof(struct hi_record_known, function) == 46 &&
		       offsetof(struct hi_record_known, slack) == 48 &&
		       offsetof(struct hi_record_known, interval_shift) == 52 &&
		       offsetof(struct hi_record_known, thinning_key) == 54,
	       "words of records");

static enum ring_class class_of(enum hi_record_type type)
{
	return type == HI_RECORD_ALLOC || type == HI_RECORD_KNOWN || type == HI_RECORD_REGION
		       ? RING_ORDINARY
		       : RING_VITAL;
}

static inline struct ring_home home_of(const struct record_event *event)
{
	return thread_slot_ring(event->state, event->slot, event->is_alone);
}

/*
 * Puts a record into the home ring or another shared one: for the case that the home ring is full,
 * and for records that are rare. The next record of this thread must have a later time than the
 * moment at which this one was reserved, in whichever ring that was. The times of a thread that is
 * alone would not ensure this by themselves (hook_scope.h), so last_seen is set from the clock.
 */
__attribute__((noinline)) static bool put_anywhere(const struct record_event *event,
						   enum hi_record_type type, const uint64_t *word,
						   uint32_t count)
{
	enum ring_outcome outcome =
		ring_put(event->state, home_of(event), word, count, class_of(type));

	if (event->is_alone && outcome != RING_FULL)
		__atomic_store_n(&event->slot->last_seen, clock_now(event->state),
				 __ATOMIC_RELAXED);
	return outcome == RING_COMMITTED || count_lost(event, type, outcome);
}

__attribute__((noinline)) static bool put_known_anywhere(const struct record_event *event,
							 const struct hook_call *call,
							 struct record_block block, uint32_t stack)
{
	struct words words = known_of(event, call, block, stack);

	return put_anywhere(event, HI_RECORD_KNOWN, words.word, sizeof(struct hi_record_known) / 8);
}

__attribute__((noinline)) static bool put_free_anywhere(const struct record_event *event,
							enum hi_record_type type, uint64_t address)
{
	struct words words = words_of(event, type, address);

	return put_anywhere(event, type, words.word, sizeof(struct hi_record_free) / 8);
}

__attribute__((noinline)) static void record_region(const struct record_event *event,
						    uint64_t stack_pointer)
{
	uint32_t now = (uint32_t)(event->cycles >> HI_REGION_RECORDED_SHIFT);

	if (now - event->slot->region_recorded <= REGION_PAUSE)
		return;
	event->slot->region_recorded = now;
	put_free_anywhere(event, HI_RECORD_REGION, stack_pointer);
}
_Static_assert(offsetof(struct hi_record_region, stack_pointer) ==
			       offsetof(struct hi_record_free, address) &&
		       sizeof(struct hi_record_region) == sizeof(struct hi_record_free),
	       "a region is laid out like a free");

__attribute__((always_inline)) static inline bool put_known(const struct record_event *event,
							    const struct hook_call *call,
							    struct record_block block,
							    uint32_t stack)
{
	const struct words words = known_of(event, call, block, stack);
	const uint32_t count = sizeof(struct hi_record_known) / 8;
	enum ring_outcome outcome =
		ring_try(event->state, home_of(event), words.word, count, RING_ORDINARY);

	if (outcome == RING_FULL)
		return put_known_anywhere(event, call, block, stack);
	return outcome == RING_COMMITTED || count_lost(event, HI_RECORD_KNOWN, outcome);
}

/*
 * Emits an alloc record that carries its frames. The frames already follow the record in the
 * scratch.
 */
__attribute__((noinline)) static bool put_with_frames(const struct record_event *event,
						      const struct hook_call *call,
						      struct record_block block,
						      struct stack_end stack)
{
	uint64_t *word = record_scratch(event)->alloc;
	const struct words head = words_of(event, HI_RECORD_ALLOC, block.address);

	for (uint32_t i = 0; i < sizeof(struct hi_record_free) / 8; i++)
		word[i] = head.word[i];
	word[4] = block.bytes;
	word[5] = word_of(word_of(stack.count, loads_now(event->state), 16),
			  word_of(stack.reason, call->words->function, 16), 32);
	word[6] = word_of(event->slack, event->interval_shift, 32);
	record_count(event->state, &counters_of(event)->stacks_unrecorded);
	return put_anywhere(event, HI_RECORD_ALLOC, word,
			    (uint32_t)sizeof(struct hi_record_alloc) / 8 + stack.count);
}
_Static_assert(offsetof(struct hi_record_alloc, address) == 24 &&
		       offsetof(struct hi_record_alloc, bytes) == 32 &&
		       offsetof(struct hi_record_alloc, frame_count) == 40 &&
		       offsetof(struct hi_record_alloc, loads) == 42 &&
		       offsetof(struct hi_record_alloc, stack_end) == 44 &&
		       offsetof(struct hi_record_alloc, function) == 46 &&
		       offsetof(struct hi_record_alloc, slack) == 48 &&
		       offsetof(struct hi_record_alloc, interval_shift) == 52 &&
		       offsetof(struct hi_record_alloc, thinning_key) == 54,
	       "words of records");

/*
 * The id of a stack that was found by walking. The second time that a stack is seen, it is added to
 * the stack trie. So a stack that is seen once costs no more than its interning.
 */
__attribute__((noinline)) static uint32_t id_of_walked(const struct record_event *event,
						       const struct hi_scratch *scratch,
						       struct stack_end stack)
{
	bool is_new;
	uint32_t id = stack_table_id(event->state, scratch->frame, stack, &is_new);

	if (!is_new && stack.is_plain)
		stack_trie_add(event->state, scratch->frame, stack.count, id);
	return id;
}

/*
 * In a forked child the scratch reads zero from one instruction to the next. So the values that
 * control the flow are not kept in the scratch.
 */
bool record_alloc(const struct record_event *event, const struct hook_call *call,
		  struct stack_end stack, struct record_block block)
{
	const struct hi_scratch *scratch = record_scratch(event);
	uint32_t id = stack.id ? stack.id : id_of_walked(event, scratch, stack);

	if (stack.reason == HI_END_REGION)
		record_region(event, scratch->unknown_sp);
	if (!(id ? put_known(event, call, block, id) : put_with_frames(event, call, block, stack)))
		return false;
	if (stack.reason != HI_END_COMPLETE)
		record_count(event->state, &counters_of(event)->stacks_truncated);
	return true;
}

bool record_free(const struct record_event *event, uint64_t address)
{
	const struct words words = words_of(event, HI_RECORD_FREE, address);
	enum ring_outcome outcome = ring_try(event->state, home_of(event), words.word,
					     sizeof(struct hi_record_free) / 8, RING_VITAL);

	if (outcome == RING_FULL)
		return put_free_anywhere(event, HI_RECORD_FREE, address);
	return outcome == RING_COMMITTED || count_lost(event, HI_RECORD_FREE, outcome);
}

bool record_unfree(const struct record_event *event, uint64_t address)
{
	return put_free_anywhere(event, HI_RECORD_UNFREE, address);
}

bool record_mapping(const struct record_event *event, enum hi_mapping_change change,
		    struct record_block block, uint32_t attributes)
{
	struct words words = words_of(event, HI_RECORD_MAPPING, block.address);

	words.word[4] = block.bytes;
	words.word[5] = word_of(change, attributes, 32);
	return put_anywhere(event, HI_RECORD_MAPPING, words.word,
			    sizeof(struct hi_record_mapping) / 8);
}
_Static_assert(offsetof(struct hi_record_mapping, address) == 24 &&
		       offsetof(struct hi_record_mapping, bytes) == 32 &&
		       offsetof(struct hi_record_mapping, change) == 40 &&
		       offsetof(struct hi_record_mapping, attributes) == 44,
	       "words of records");

bool record_named(const struct record_event *event, enum hi_named_change change, uint64_t address,
		  uint64_t pool, uint32_t function)
{
	struct words words = words_of(event, HI_RECORD_NAMED, address);

	words.word[4] = pool;
	words.word[5] = word_of(change, function, 32);
	return put_anywhere(event, HI_RECORD_NAMED, words.word, sizeof(struct hi_record_named) / 8);
}
_Static_assert(offsetof(struct hi_record_named, address) == 24 &&
		       offsetof(struct hi_record_named, pool) == 32 &&
		       offsetof(struct hi_record_named, change) == 40 &&
		       offsetof(struct hi_record_named, function) == 44,
	       "words of records");
