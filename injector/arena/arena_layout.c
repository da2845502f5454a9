/* SPDX-License-Identifier: MIT */
/*
 * arena_layout.c - the size and place of each part of the arena, by the sampling interval and by
 * what it has to hold. See arena.h.
 */
#include "arena.h"

#include <string.h>
#include <sys/mman.h>

#include "arch.h"
#include "hi_page.h"

/* for libraries that are loaded later; sparse, costs nothing until used */
#define TABLES_ROOM (7u << 20)

/* a larger interval would mean no samples at all, as no block is larger */
#define INTERVAL_MAX (1ull << HI_ARCH_ADDRESS_BITS)

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + hi_page_bytes() - 1) / hi_page_bytes() * hi_page_bytes();
}

/*
 * The interval by which the sizes are chosen. An interval that adapts may become as fine as the
 * budget allows, which is not so fine that it fills large tables.
 */
static uint64_t interval_for_sizes(uint64_t interval, bool adapts)
{
	return adapts && interval < HI_INTERVAL_ADAPTED ? HI_INTERVAL_ADAPTED : interval;
}

static uint32_t shift_max_of(uint64_t interval)
{
	uint32_t shift = 0;
	while (shift < HI_INTERVAL_SHIFT_MAX && interval << shift < INTERVAL_MAX)
		shift++;
	return shift;
}

/*
 * Bytes of all rings together. One busy thread can fill half of them and one more. Pages that are
 * never filled are never touched.
 */
static uint64_t ring_bytes(uint64_t interval)
{
	if (interval <= HI_INTERVAL_DENSE_MAX)
		return 128u << 20;
	return interval < HI_INTERVAL_SPARSE ? 8u << 20 : 2u << 20;
}

uint64_t arena_ring_capacity(const struct hi_control *control)
{
	return ring_bytes(interval_for_sizes(control->interval, control->shift_max)) /
	       (control->ring_mask + 1ull);
}

/*
 * Size of the first level of the live set: small enough for the caches where few blocks are
 * samples.
 */
static uint32_t bucket_bits(uint64_t interval)
{
	if (interval <= HI_INTERVAL_DENSE_MAX)
		return 15;
	return interval < HI_INTERVAL_SPARSE ? 13 : 12;
}

/* Room for live samples. The default at the default interval suffices for a heap of 128 GiB. */
static uint64_t live_max_of(const struct arena_plan *plan, uint64_t interval)
{
	if (plan->live_max)
		return plan->live_max;
	return interval <= HI_INTERVAL_DENSE_MAX ? ARENA_LIVE_MAX_EXACT : ARENA_LIVE_MAX;
}

/*
 * The number of levels that give twice the room needed: as long as a table is half empty, hardly
 * any address finds its place taken.
 */
static uint32_t bucket_levels(uint32_t bits, uint64_t live_max)
{
	uint64_t entries = (uint64_t)HI_BUCKET_ENTRIES << bits, room = entries;
	uint32_t levels = 1;
	for (; levels < HI_LEVELS_MAX && room / 2 < live_max; levels++)
		room += entries <<= HI_LEVEL_BITS;
	return levels;
}

/* Where the interval adapts, some ten thousand samples may be live, whatever it is. */
#define OCCUPANCY_BITS_ADAPTED 18u

#define OCCUPANCY_BITS_MAX 20u
/* Those of hi_gate_hash begin at 32, and bits of a pointer reach no lower ones. */
_Static_assert(32 + OCCUPANCY_BITS_MAX <= HI_ARCH_POINTER_BITS, "a tag changes no home");

/* One byte for a few live samples. Where every block is a sample, the bytes distinguish nothing. */
static uint32_t occupancy_bits(uint64_t interval)
{
	if (interval <= HI_INTERVAL_EXACT)
		return 12;
	if (interval <= HI_INTERVAL_DENSE_MAX)
		return OCCUPANCY_BITS_MAX;
	return interval < HI_INTERVAL_SPARSE ? 17 : 15;
}

static uint64_t all_buckets(const struct hi_control *control)
{
	uint64_t count = 0;
	for (uint32_t level = 0; level < control->bucket_levels; level++)
		count += 1ull << (control->bucket_bits + HI_LEVEL_BITS * level);
	return count;
}

/* Room for interned stacks, most of it never used. */
static uint64_t stacks_bytes(uint64_t interval)
{
	return interval <= HI_INTERVAL_DENSE_MAX ? 64u << 20 : 4u << 20;
}

/* As many stacks as fit into stacks_bytes at some 30 frames each. */
static uint32_t known_bits(uint64_t interval)
{
	return interval <= HI_INTERVAL_DENSE_MAX ? 18 : 14;
}

/*
 * Nodes of the stack trie. A stack of 30 frames takes a few nodes if it resembles another, and 30
 * if it does not. It is used only where samples follow each other closely. Where they are rare, the
 * path along the trie is in no CPU cache, and looking up the unwind rules of a program's functions
 * is faster. 0: no trie.
 */
static uint32_t walk_bits(uint64_t interval)
{
	return interval <= HI_INTERVAL_DENSE_MAX ? 18 : 0;
}

struct arena_state_layout arena_state_layout(const struct hi_control *control)
{
	const uint64_t homes = 1ull << control->occupancy_bits,
		       sentinels = control->has_sentinel_room ? homes : 0;
	struct arena_state_layout layout;
	layout.thread_slots = whole_pages(sizeof(struct hi_state));
	layout.occupancy = layout.thread_slots + whole_pages(sizeof(struct hi_thread_table));
	layout.unasked_occupancy = layout.occupancy + whole_pages(homes);
	layout.no_sentinel = layout.unasked_occupancy + whole_pages(sentinels);
	layout.buckets = layout.no_sentinel + whole_pages(sentinels / 8);
	layout.scratch =
		layout.buckets + whole_pages(8ull * HI_BUCKET_ENTRIES * all_buckets(control));
	layout.rules = layout.scratch + whole_pages(HI_SCRATCHES * HI_SCRATCH_BYTES);
	layout.known_stacks = layout.rules + whole_pages(HI_RULES * sizeof(struct hi_rule_entry));
	layout.walk_nodes = layout.known_stacks + whole_pages(8ull << control->known_bits);
	layout.walk_edges =
		layout.walk_nodes + whole_pages(sizeof(struct hi_walk_node) << control->walk_bits);
	layout.size = layout.walk_edges + whole_pages(sizeof(uint32_t) << control->walk_bits);
	return layout;
}

struct hi_control *arena_control_new(void)
{
	void *control = mmap(NULL, sizeof(struct hi_control), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return control == MAP_FAILED ? NULL : control;
}

void arena_control_free(struct hi_control *control)
{
	if (control)
		munmap(control, sizeof(*control));
}

remote_addr arena_find(const struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		if (!maps->mapping[i].file_offset && !strcmp(maps->mapping[i].path, ARENA_PATH))
			return maps->mapping[i].lo;
	return 0;
}

void arena_range(const struct maps *maps, const struct memory *memory, remote_addr *out_lo,
		 remote_addr *out_hi)
{
	const remote_addr lo = arena_find(maps);
	uint64_t magic, self, size;

	*out_lo = *out_hi = 0;
	if (!lo || memory_read_u64(memory, lo + offsetof(struct hi_control, magic), &magic) ||
	    memory_read_u64(memory, lo + offsetof(struct hi_control, arena), &self) ||
	    memory_read_u64(memory, lo + offsetof(struct hi_control, arena_size), &size) ||
	    magic != HI_WIRE_MAGIC || self != lo || size > UINT64_MAX - lo)
		return;
	*out_lo = lo;
	*out_hi = lo + size;
}

bool arena_has_mapping(const struct mapping *mapping, remote_addr lo, remote_addr hi)
{
	return (mapping->lo >= lo && mapping->hi <= hi) ||
	       !strncmp(mapping->path, ARENA_PATH, sizeof(ARENA_PATH) - 1);
}

#define HOLE_MARGIN (1ull << 20) /* kept free on both sides: the mappings there may grow */
/* the kernel lets no program map anything below, by default (vm.mmap_min_addr is 64 KB) */
#define LOWEST (1ull << 20)
#define HOLE_REACH (ARCH_JUMP_REACH / 2) /* the arena itself takes some of a jump's reach */
/*
 * kept free below the main stack, which grows down, and above the heap, which grows up. The kernel
 * maps nothing there by itself, so that often no other hole is near
 */
#define GROWTH_ROOM (1ull << 32)

/* The hole between mapping i and the next, without the parts into which these may grow. */
static bool hole_after(const struct maps *maps, size_t i, remote_addr *out_lo, remote_addr *out_hi)
{
	const struct mapping *below = &maps->mapping[i], *above = below + 1;
	const bool is_stack = strcmp(above->path, "[stack]") == 0,
		   is_heap = strcmp(below->path, "[heap]") == 0;
	*out_lo = below->hi + (is_heap ? GROWTH_ROOM : HOLE_MARGIN);
	*out_hi = above->lo - (is_stack ? GROWTH_ROOM : HOLE_MARGIN);
	return (is_heap || below->path[0] != '[') && (is_stack || above->path[0] != '[') &&
	       *out_hi < above->lo && *out_lo < *out_hi;
}

/* The hole below the first mapping, which is the program's, unless that lies elsewhere. */
static bool first_hole(const struct maps *maps, remote_addr *out_lo, remote_addr *out_hi)
{
	*out_lo = LOWEST;
	*out_hi = maps->count ? maps->mapping[0].lo - HOLE_MARGIN : 0;
	return *out_hi < UINT64_MAX - HOLE_MARGIN && *out_lo < *out_hi;
}

/* A relay in [at, at + size); 0: none. */
static remote_addr relay_in(const struct entries *entries, remote_addr at, uint64_t size)
{
	for (unsigned hook = 0; entries && hook < HOOKS_MAX; hook++) {
		const struct entry *entry = &entries->entry[hook];
		if (entry->at && entry->by == ENTRY_FAR_AWAY && entry->relay - at < size)
			return entry->relay;
	}
	return 0;
}

/* The place in a hole [lo, hi) of pages that is nearest to its upper or its lower end; 0: none. */
static remote_addr place_in_hole(remote_addr lo, remote_addr hi, uint64_t size, bool is_upper,
				 const struct entries *entries)
{
	remote_addr at = is_upper ? (hi - size) / hi_page_bytes() * hi_page_bytes()
				  : whole_pages(lo),
		    relay;
	if (hi - lo < size)
		return 0;
	while ((relay = relay_in(entries, at, size))) {
		const remote_addr page = relay / hi_page_bytes() * hi_page_bytes();
		if (is_upper ? page < lo + size : page + hi_page_bytes() + size > hi)
			return 0;
		at = is_upper ? page - size : page + hi_page_bytes();
	}
	return at >= lo && at + size <= hi ? at : 0;
}

remote_addr arena_place(const struct maps *maps, const struct entries *entries, uint64_t size,
			remote_addr lo, remote_addr hi)
{
	remote_addr best = 0;
	uint64_t least = HOLE_REACH;
	for (size_t i = 0; i < maps->count; i++) {
		remote_addr from, to;
		const bool is_hole =
			i ? hole_after(maps, i - 1, &from, &to) : first_hole(maps, &from, &to);
		if (!is_hole)
			continue;
		const bool is_below = to <= lo;
		const remote_addr at = place_in_hole(from, to, size, is_below, entries);
		const uint64_t distance = is_below     ? lo - (at + size)
					  : from >= hi ? at - hi + size
						       : UINT64_MAX;
		if (!at || distance >= least)
			continue;
		least = distance;
		best = at;
	}
	return best;
}

static uint64_t place(struct hi_part *part, uint64_t offset, uint64_t size)
{
	part->offset = offset;
	part->size = whole_pages(size);
	return offset + part->size;
}

void arena_layout(const struct arena_plan *plan, struct hi_control *control)
{
	const uint64_t interval = interval_for_sizes(plan->interval, plan->adapts);
	control->version = HI_WIRE_VERSION;
	control->interval = plan->interval;
	control->shift_max = plan->adapts ? shift_max_of(plan->interval) : 0;
	control->interval_shift = plan->adapts ? plan->begin : 0;
	control->bucket_bits = bucket_bits(interval);
	control->bucket_levels =
		plan->records_all_frees
			? 0
			: bucket_levels(control->bucket_bits, live_max_of(plan, interval));
	control->has_sentinel_room = plan->adapts;
	control->occupancy_bits = plan->adapts ? OCCUPANCY_BITS_ADAPTED : occupancy_bits(interval);
	control->unsampled_frees.sentinels =
		plan->adapts && control->bucket_levels ? 1u << control->occupancy_bits : 0;
	control->known_bits = known_bits(interval);
	control->walk_bits = walk_bits(interval);
	uint64_t end = HI_CONTROL_BYTES;
	control->ring_mask = arch_cycles_agree() ? HI_RINGS - 1 : 0;
	end = place(&control->ring, end,
		    (control->ring_mask + 1) * sizeof(struct hi_ring) + ring_bytes(interval));
	end = place(&control->stacks, end, stacks_bytes(interval));
	end = place(&control->tables, end, plan->tables_bytes + TABLES_ROOM);
	end = place(&control->near, end, (uint64_t)HI_NEAR_PAGES_MAX * hi_page_bytes());
	end = place(&control->state, end, arena_state_layout(control).size);
	end = place(&control->stage, end, HI_CODE_BYTES_MAX);
	end = place(&control->image, end, plan->image_bytes);
	end = place(&control->probes, end, plan->probes_bytes);
	end = place(&control->gate, end, HI_GATE_BYTES);
	end = place(&control->words, end, HI_GATE_BYTES);
	control->arena_size = end;
}
