/* SPDX-License-Identifier: MIT */
/*
 * Room arena/: what is ours in the target, and what was changed there.
 *
 *   arena.h            the reservation, from plan to unmapping: enter here (arena_layout.c,
 *                      arena_map.c, arena_gate.c, arena_unmap.c)
 *   probes.h           a page of it that has a file of its own, for other tools; probes_file.h:
 * that file arena_file.h       the memfd behind it; gate_code.h: what the gate holds;
 * arena_reserve.h: address space under a limit on locked memory journal.h          records each
 * changed word before it is changed, so that a detach after the injector's death can change it back
 *   live_patch.h       has a thread of the target change words while the others run; code_swap.h:
 *                      replaces pages of code
 *   arena_resident.h   how much of it is resident
 *   publish.h          unwind rows and stack regions for the payload; own_rows.h: those of our code
 *   thread_table.h     which threads are in a hook
 *   target_memfd.h     opens the file that the target was made to create
 *
 * The layout is that of hi_wire.h. Uses hooks/, unwind/, tracee/, elf/, target/.
 */

/*
 * arena.h - the one reservation in the target that holds everything of ours except a dlopened
 * image: planned, mapped, published to, unmapped.
 *
 * hi_wire.h defines the layout and who may write what. The injector maps the shared parts (control,
 * ring, tables) itself and works on them directly. It reaches the private parts through
 * /proc/PID/mem. Planning happens from outside while the target runs; only arena_map needs a
 * borrowed thread, for eleven system calls.
 */
#ifndef HI_ARENA_H
#define HI_ARENA_H

#include <stdbool.h>

#include "entries.h"
#include "hi_wire.h"
#include "payload_image.h"
#include "remote.h"
#include "slots.h"
#include "patch.h"

/*
 * This holds everything that the injector relies on: the target can write to whatever lies in the
 * shared parts. So there are two control blocks. The injector goes by its own. The shared one is
 * written for the payload and for a later injector, and only counters are ever read back from it.
 */
struct arena {
	int memfd;                  /* our descriptor of the same memfd; -1 after arena_close */
	int target_fd;              /* the memfd's number in the target while open there; -1 */
	struct hi_control *control; /* our own block */
	struct hi_control *shared;  /* our mapping of [0, shared_size) */
	size_t shared_size;
	struct hi_ring *ring;   /* the first ring */
	uint64_t ring_capacity; /* bytes of each ring */
	uint32_t ring_count;
	struct hi_stacks *stacks;
	/* our values; the limit is how far the stacks are allocated */
	uint64_t stacks_size, stacks_limit;
	uint8_t *tables;
	uint64_t tables_size;
	/*
	 * during arena_map: the contents of the parts that are private in the target: relays, and
	 * from the image on
	 */
	uint8_t *kept;
};

/* Default room for live samples. */
#define ARENA_LIVE_MAX (256u << 10)
#define ARENA_LIVE_MAX_EXACT (10u << 20)

struct arena_plan {
	uint64_t interval;
	/* the interval adapts to a budget: `interval` is the finest, it begins with interval <<
	 * begin */
	bool adapts;
	uint32_t begin;
	uint64_t live_max; /* live samples to have room for; 0 = what fits the interval */
	/* every free is recorded, of whatever block: no live set is kept */
	bool records_all_frees;
	size_t tables_bytes; /* what the tables need now; room for growth is added */
	size_t image_bytes;  /* 0: the loader puts the image elsewhere */
	size_t probes_bytes; /* 0: no probes */
};

/*
 * Allocates an all-zero control block on pages of its own: most of its megabytes are never touched,
 * and this is called while a thread is held. NULL: no memory. Free with arena_control_free.
 */
struct hi_control *arena_control_new(void);
void arena_control_free(struct hi_control *control);

#define ARENA_PATH "/memfd:" HI_MEMFD_NAME /* as it appears in /proc/PID/maps */
/*
 * The address of an arena, 0 = there is none. A gate that was left behind has no first page, and is
 * not found.
 */
remote_addr arena_find(const struct maps *maps);
/*
 * The same with its end, by what its first page says: [0, 0) = there is none, or that page makes no
 * sense.
 */
void arena_range(const struct maps *maps, const struct memory *memory, remote_addr *out_lo,
		 remote_addr *out_hi);
/* Is it of the arena [lo, hi), or of its file, which is not all in one? */
bool arena_has_mapping(const struct mapping *mapping, remote_addr lo, remote_addr hi);
/*
 * Finds a hole of `size` bytes in the mappings, as near to [lo, hi) as possible, preferably below
 * it, and without a relay of entries in it. 0: none within reach of a jump.
 */
remote_addr arena_place(const struct maps *maps, const struct entries *entries, uint64_t size,
			remote_addr lo, remote_addr hi);
/*
 * Chooses the sizes that `interval` requires: rings, live set and others. Fills the layout fields
 * of control (arena == 0).
 */
void arena_layout(const struct arena_plan *plan, struct hi_control *control);
/*
 * Writes the first pages of control, which only the injector may write, to the target's private
 * copy of these pages.
 */
must_check int arena_note(const struct hi_control *control, const struct memory *memory);
/* Bytes of each ring, a power of two. */
uint64_t arena_ring_capacity(const struct hi_control *control);

/* The contents of the gate: templates, and the functions that its entries lead to. */
struct arena_code {
	const struct payload_image *payload;
	const struct allocators *allocators;
	/*
	 * functions hooked at their entries; arena_map drops those from which no way leads to the
	 * arena
	 */
	struct entries *entries;
	const struct maps *maps; /* of the target, a moment ago */
	remote_addr hint;        /* where the arena should lie, 0 = anywhere */
};

/*
 * Creates the memfd in the target, fills it from outside, and maps it part by part. The gate has
 * one entry for each function that the allocators define and the payload can hook, bypassed (hook
 * == original). `layout` has been through arena_layout and carries whatever else the control block
 * must say before anything exists. On failure everything is undone (the remote is still open).
 * -ENOBUFS: the target locks what it maps, and may lock no more.
 */
must_check int arena_map(struct arena *arena, struct remote *remote,
			 const struct hi_control *layout, const struct arena_code *code);
/*
 * Allocates the ring's pages in the injector, so that they count against its memory limit and not
 * the target's. They are megabytes: not to be called while a thread is held.
 */
must_check int arena_touch_ring(const struct arena *arena);
/*
 * Gives the payload room for stacks, one step ahead of what it uses. To be called after
 * arena_touch_ring, and then once a round.
 */
void arena_extend_stacks(struct arena *arena);
/*
 * Removes the arena from the target with one munmap. keep_gate leaves the gate and its words, with
 * bare jumps in every entry. May be repeated if it was interrupted at any step, even with another
 * keep_gate.
 */
int arena_unmap(const struct hi_control *control, struct remote *remote,
		const struct payload_image *payload, bool keep_gate);
/* Closes a descriptor in the target: a memfd that a dead injector left open. */
must_check int arena_close_fd(struct remote *remote, int fd);
/*
 * Frees the memory of rings and stacks. Only once nothing writes there and everything has been
 * read. The file itself lives on in a gate that stays, or in a child that was forked while
 * attached; neither of these writes there.
 */
void arena_free_rings(const struct arena *arena);
/* Frees our side only. Idempotent. */
void arena_close(struct arena *arena);

/* out_entry[f] = address of the gate entry of function f, 0 = none. */
must_check int arena_gate_entries(const struct hi_control *control, const struct memory *memory,
				  remote_addr out_entry[HOOKS_MAX]);
/*
 * Is the arena at `base` one that the process inherited from its parent by fork? Reads memory that
 * other processes may have written to.
 */
bool arena_is_inherited(remote_addr base, const struct memory *memory);
/*
 * Does a live injector store its heartbeat in it, wherever that runs? Looks for a tenth of a
 * second. False of an injector that stands still.
 */
bool arena_is_beating(remote_addr base, const struct memory *memory);
/* Writes the head of the payload's state, armed == 0. load_count: load_count.h; 0 = not known. */
must_check int arena_fill_state(const struct hi_control *control, const struct memory *memory,
				remote_addr load_count);
/*
 * Makes every entry's hook lead to the payload, which checks whether it is armed. To be called
 * before the first slot is written, as no thread reads the hooks yet.
 */
must_check int arena_set_hooks(const struct hi_control *control, const struct memory *memory,
			       const struct payload_image *payload);
/* Start and end sampling, for all threads at once. */
must_check int arena_arm(const struct hi_control *control, const struct memory *memory);
must_check int arena_disarm(const struct hi_control *control, const struct memory *memory);
/*
 * Makes every entry lead past the payload, for good. Works from the control block alone, and may be
 * repeated.
 */
must_check int arena_bypass(const struct hi_control *control, const struct memory *memory,
			    const struct patcher *patcher);

static inline remote_addr arena_gate(const struct hi_control *control)
{
	return control->arena + control->gate.offset;
}
static inline remote_addr arena_words(const struct hi_control *control, unsigned entry)
{
	return control->arena + control->words.offset + (uint64_t)entry * HI_GATE_STRIDE;
}
static inline unsigned arena_gate_count(const struct hi_control *control)
{
	const uint32_t count = control->gate_count;
	return count < HI_GATE_ENTRIES ? count : HI_GATE_ENTRIES;
}
static inline remote_addr arena_state(const struct hi_control *control)
{
	return control->arena + control->state.offset;
}

/* Offsets of the head and the tables from the start of the state. */
struct arena_state_layout {
	uint64_t thread_slots, occupancy, unasked_occupancy, no_sentinel, buckets, scratch, rules,
		known_stacks, walk_nodes, walk_edges, size;
};
/* Computed from the *_bits, *_levels and has_sentinel_room of control. */
struct arena_state_layout arena_state_layout(const struct hi_control *control);

#endif
