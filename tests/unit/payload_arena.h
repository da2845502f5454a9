/* SPDX-License-Identifier: MIT */
/*
 * payload_arena.h - an arena (hi_wire.h) in this very process, so that unit tests can call the
 * payload through real gate entries.
 *
 * What the injector does from outside, done from within: the same parts, the same mappings, the
 * same fork behaviour. Include it in one file per test.
 */
#ifndef PAYLOAD_ARENA_H
#define PAYLOAD_ARENA_H

#include <stdbool.h>
#include <sys/mman.h>

#include "arch.h"
#include "hi_wire.h"
#include "unit.h"

struct arena {
	struct hi_control *control;
	struct hi_ring *ring; /* the first, and the only one that is read here */
	struct hi_stacks *stacks;
	struct hi_state *state;
	struct hi_thread_table *table;
	struct hi_thread_slot *slots; /* of the table */
	uint8_t *occupancy;
	uint64_t *buckets;
	uint8_t *tables;
	uint8_t *gate; /* HI_GATE_BYTES of code, then the words */
	unsigned gate_count;
	uint64_t record_count[8]; /* drained, by type */
};

static inline void *arena_map(size_t bytes, int sharing)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

/* Every writable private mapping of this process, as the injector publishes them. */
static inline void arena_publish_regions(struct arena *arena)
{
	struct hi_regions *regions = &arena->control->regions[0];
	char line[512], permissions[5];
	FILE *file = fopen("/proc/self/maps", "r");
	uint64_t lo, hi;

	CHECK(file);
	regions->count = 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &lo, &hi, permissions) == 3 &&
		    strcmp(permissions, "rw-p") == 0 && regions->count < HI_REGION_CAPACITY) {
			regions->range[regions->count].lo = lo;
			regions->range[regions->count++].hi = hi;
		}
	fclose(file);
	regions->generation += 2;
}

#define ARENA_TABLES_BYTES 65536u
#define ARENA_STACKS_BYTES 65536u
#define ARENA_KNOWN_BITS 13u
#define ARENA_WALK_BITS 13u

/* ring_bytes: of each */
static inline struct arena arena_open_with_rings(uint64_t interval, unsigned bucket_bits,
						 size_t ring_bytes, unsigned rings)
{
	const size_t slots_at = sizeof(struct hi_state);
	const size_t occupancy_at =
		slots_at + (sizeof(struct hi_thread_table) + HI_PAGE_BYTES - 1) / HI_PAGE_BYTES *
				   HI_PAGE_BYTES;
	const size_t buckets_at = occupancy_at + ((1ul << bucket_bits) + HI_PAGE_BYTES - 1) /
							 HI_PAGE_BYTES * HI_PAGE_BYTES;
	const size_t scratch_at = buckets_at + ((size_t)HI_BUCKET_ENTRIES * 8 << bucket_bits);
	const size_t rules_at = scratch_at + HI_SCRATCHES * HI_SCRATCH_BYTES,
		     known_at = rules_at + HI_RULES * sizeof(struct hi_rule_entry);
	const size_t walk_nodes_at = known_at + (sizeof(uint64_t) << ARENA_KNOWN_BITS);
	const size_t walk_edges_at =
		walk_nodes_at + (sizeof(struct hi_walk_node) << ARENA_WALK_BITS);
	const size_t state_bytes = walk_edges_at + (sizeof(uint32_t) << ARENA_WALK_BITS);
	struct arena arena = {
		.control = arena_map(HI_CONTROL_BYTES, MAP_SHARED),
		.ring = arena_map(rings * (sizeof(struct hi_ring) + ring_bytes), MAP_SHARED),
		.state = arena_map(state_bytes, MAP_PRIVATE),
		.stacks = arena_map(ARENA_STACKS_BYTES, MAP_SHARED),
		.tables = arena_map(ARENA_TABLES_BYTES, MAP_SHARED),
		.gate = arena_map((size_t)2 * HI_GATE_BYTES, MAP_PRIVATE),
	};
	uint8_t *base = (uint8_t *)arena.state;

	CHECK_EQ(madvise(arena.control, HI_PAGE_BYTES, MADV_DONTFORK), 0); /* no hook touches it */
	CHECK_EQ(madvise(base + HI_STATE_KEPT_BYTES, state_bytes - HI_STATE_KEPT_BYTES,
			 MADV_WIPEONFORK),
		 0);
	arena.table = (void *)(base + slots_at);
	arena.slots = arena.table->slot;
	arena.occupancy = base + occupancy_at;
	arena.buckets = (void *)(base + buckets_at);
	for (unsigned i = 0; i < rings; i++)
		hi_ring_at(arena.ring, ring_bytes, i)->capacity = ring_bytes;
	arena.stacks->limit = ARENA_STACKS_BYTES;
	arena.stacks->used = sizeof(struct hi_stacks);
	arena.control->interval = interval;
	*arena.state = (struct hi_state){
		.armed = 1,
		.control = (uintptr_t)arena.control,
		.ring = (uintptr_t)arena.ring,
		.tables = (uintptr_t)arena.tables,
		.tables_size = ARENA_TABLES_BYTES,
		.thread_slots = (uintptr_t)arena.slots,
		.occupancy = (uintptr_t)arena.occupancy,
		.buckets = (uintptr_t)arena.buckets,
		.scratch = (uintptr_t)(base + scratch_at),
		.rules = (uintptr_t)(base + rules_at),
		.walk_nodes = (uintptr_t)(base + walk_nodes_at),
		.walk_edges = (uintptr_t)(base + walk_edges_at),
		.walk_bits = ARENA_WALK_BITS,
		.known_stacks = (uintptr_t)(base + known_at),
		.known_bits = ARENA_KNOWN_BITS,
		.stacks = (uintptr_t)arena.stacks,
		.stacks_size = ARENA_STACKS_BYTES,
		.bucket_bits = bucket_bits,
		.bucket_levels = 1,
		.occupancy_bits = bucket_bits,
		.gate = (uintptr_t)arena.gate,
		.gate_bytes = HI_GATE_BYTES,
		.page_bytes = HI_PAGE_BYTES,
		.ring_capacity = ring_bytes,
		.ring_mask = rings - 1,
	};
	arena_publish_regions(&arena);
	return arena;
}

static inline struct arena arena_open(uint64_t interval, unsigned bucket_bits, size_t ring_bytes)
{
	return arena_open_with_rings(interval, bucket_bits, ring_bytes, 1);
}

/*
 * Copies a template to the next gate entry; returns the words of it. The entry's code lies
 * HI_GATE_BYTES before them.
 */
static inline struct hi_gate_words *arena_gate(struct arena *arena, enum hi_function function,
					       const void *gate_template, void (*hook)(void),
					       void *original)
{
	uint8_t *entry = arena->gate + (size_t)HI_GATE_STRIDE * arena->gate_count++;
	struct hi_gate_words *words = (void *)(entry + HI_GATE_BYTES);

	CHECK(arena->gate_count <= HI_GATE_ENTRIES);
	CHECK_EQ(mprotect(arena->gate, HI_GATE_BYTES, PROT_READ | PROT_WRITE), 0);
	memcpy(entry, gate_template, HI_GATE_STRIDE);
	CHECK_EQ(mprotect(arena->gate, HI_GATE_BYTES, PROT_READ | PROT_EXEC), 0);
	*words = (struct hi_gate_words){
		.original = (uintptr_t)original,
		.hook = (uintptr_t)hook,
		.thread_slots = arena->state->thread_slots,
		.occupancy = arena->state->occupancy,
		.state = (uintptr_t)arena->state,
		.occupancy_mask = (1u << arena->state->occupancy_bits) - 1,
		.function = function,
	};
	return words;
}

static inline void *arena_entry(const struct hi_gate_words *words)
{
	return (uint8_t *)(uintptr_t)words - HI_GATE_BYTES;
}

/*
 * The reader's side. Takes the next committed record into *out (HI_RING_SIZE_MAX bytes); false:
 * none.
 */
static inline bool arena_take(struct arena *arena, void *out)
{
	struct hi_ring *ring = arena->ring;
	uint64_t tail = ring->tail, *word = (void *)(ring->data + tail % ring->capacity);
	uint64_t first = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	uint32_t size = (uint32_t)first, type = (uint32_t)(first >> 32);

	if (tail == __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) || !first ||
	    first & HI_RING_BUSY)
		return false;
	CHECK(size >= HI_RING_UNIT && size <= HI_RING_SIZE_MAX && size % HI_RING_UNIT == 0);
	CHECK(type >= 1 && type < sizeof(arena->record_count) / sizeof(arena->record_count[0]));
	for (uint32_t i = 0; i < size / 8; i++) {
		word = (void *)(ring->data + (tail + 8 * i) % ring->capacity);
		memcpy((uint8_t *)out + 8 * i, word, 8);
		*word = 0;
	}
	arena->record_count[type]++;
	__atomic_store_n(&ring->tail, tail + size, __ATOMIC_RELEASE);
	return true;
}

/* An alloc record of a known stack, as if it carried its frames itself. */
static inline void arena_spell_out(const struct arena *arena, struct hi_record_alloc *alloc)
{
	struct hi_record_known known;
	const struct hi_stack *stack;

	memcpy(&known, alloc, sizeof(known));
	stack = (const void *)((const uint8_t *)arena->stacks + 8ull * known.stack);
	CHECK(known.stack && 8ull * known.stack + sizeof(*stack) + 8ull * stack->frame_count <=
				     arena->stacks->used);
	alloc->header.type_busy = HI_RECORD_ALLOC;
	alloc->function = known.function;
	alloc->stack_end = stack->stack_end;
	alloc->frame_count = stack->frame_count;
	memcpy(alloc->frame, stack->frame, 8ull * stack->frame_count);
}

/*
 * The same for tests that expect a record next; an alloc has its frames, whether its stack was
 * known or not.
 */
static inline const struct hi_record_alloc *arena_next(struct arena *arena)
{
	static union {
		struct hi_record_alloc alloc;
		uint8_t bytes[HI_RING_SIZE_MAX];
	} record;

	CHECK(arena_take(arena, &record));
	if (record.alloc.header.type_busy == HI_RECORD_KNOWN)
		arena_spell_out(arena, &record.alloc);
	return &record.alloc;
}

/* Of this type. */
static inline const struct hi_record_alloc *arena_expect(struct arena *arena,
							 enum hi_record_type type)
{
	const struct hi_record_alloc *record = arena_next(arena);

	CHECK_EQ(record->header.type_busy, type);
	return record;
}

/* Alloc records drained, of either type. */
static inline uint64_t arena_allocs(const struct arena *arena)
{
	return arena->record_count[HI_RECORD_ALLOC] + arena->record_count[HI_RECORD_KNOWN];
}

static inline void arena_drain(struct arena *arena)
{
	uint64_t record[HI_RING_SIZE_MAX / 8];

	while (arena_take(arena, record))
		;
}

/* Nobody is inside, and the live set holds nothing. */
static inline void arena_check_quiet(const struct arena *arena)
{
	for (unsigned i = 0; i < HI_THREAD_SLOTS; i++)
		CHECK_EQ(arena->slots[i].in_flight, 0);
	for (unsigned i = 0; i < HI_PLACES; i++)
		CHECK_EQ(arena->table->place[i].count, 0);
	CHECK_EQ(arena->table->passing, 0);
	CHECK_EQ(arena->table->named, 0);
	for (unsigned i = 0; i < 1u << arena->state->occupancy_bits; i++)
		CHECK_EQ(arena->occupancy[i], 0);
	for (unsigned i = 0; i < HI_BUCKET_ENTRIES << arena->state->bucket_bits; i++)
		CHECK_EQ(arena->buckets[i], 0);
}

/* Symbols of gate.S: code, not to be called in place. */
extern const uint8_t hi_gate_alloc[], hi_gate_size2[], hi_gate_sizearg2[], hi_gate_sizearg3[],
	hi_gate_free[], hi_gate_realloc[], hi_gate_always[], hi_gate_inert[];
void hi_hook_malloc(void), hi_hook_calloc(void), hi_hook_realloc(void), hi_hook_reallocarray(void),
	hi_hook_free(void), hi_hook_posix_memalign(void), hi_hook_aligned_alloc(void),
	hi_hook_memalign(void), hi_hook_rallocx(void), hi_hook_xallocx(void),
	hi_hook_sdallocx(void), hi_hook_new(void), hi_hook_new_aligned(void),
	hi_hook_named_alloc_0(void), hi_hook_named_alloc_1(void), hi_hook_named_free_0(void);

#endif
