/* SPDX-License-Identifier: MIT */
/*
 * The room arena/: what is ours in the target, and what was changed there.
 *
 *   arena.h            the reservation, from plan to unmapping: enter here (arena_layout.c, arena_gate.c, arena_reserve.h)
 *   journal.h          each word that is changed, noted before, so that a detach after a death can change it back
 *   live_patch.h            changes words by a thread of the target while the others run; code_swap.h: pages of code that take others' place
 *   publish.h          unwind rows and stack regions for the payload
 *   thread_table.h     who is in a hook
 *   target_memfd.h     our way to the file that the target was made to create
 *
 * The layout is that of hi_wire.h. Uses hooks/, unwind/, tracee/, elf/, target/.
 */

/*
 * arena.h - the one reservation in the target that holds all of ours but the dlopened image: planned, mapped, published to, unmapped.
 *
 * Layout and who may write what: hi_wire.h. The injector maps the shared parts (control, ring, tables) itself and works on them directly; the private parts it
 * reaches through /proc/PID/mem. Planned from outside while the target runs; only arena_map needs a borrowed thread, for eleven system calls.
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
 * What we rely on is kept here: the target can write whatever lies in the shared parts. So there are two control blocks: our own, by which we go, and the
 * shared one, which is written for the payload and for whoever comes after us, and of which nothing but counters is ever read back.
 */
struct arena {
	int memfd;                  /* ours, on the same memfd; -1 after arena_close */
	int target_fd;              /* its number in the target while it is open there; -1 */
	struct hi_control *control; /* our own */
	struct hi_control *shared;  /* our mapping of [0, shared_size) */
	size_t shared_size;
	struct hi_ring *ring;   /* the first */
	uint64_t ring_capacity; /* of each */
	uint32_t ring_count;
	struct hi_stacks *stacks;
	uint64_t stacks_size, stacks_limit; /* ours; the limit is how far they are allocated */
	uint8_t *tables;
	uint64_t tables_size;
	uint8_t *kept; /* while it is mapped: what the parts that are private in the target hold, relays, and from the image on */
};

#define ARENA_INTERVAL (512u << 10) /* mean bytes between samples, if nobody says otherwise */
/* Live samples that there is room for, likewise. */
#define ARENA_LIVE_MAX (256u << 10)
#define ARENA_LIVE_MAX_EXACT (10u << 20)

struct arena_plan {
	uint64_t interval;
	uint64_t live_max;   /* live samples to have room for; 0 = what fits the interval */
	bool tells_all;      /* every free is told, whatever block it is of: no live set is kept */
	size_t tables_bytes; /* what the tables need now; room to grow is added */
	size_t image_bytes;  /* 0: the loader brings the image elsewhere */
};

/*
 * A control block that is all zero, of pages of its own: most of its megabytes are never touched, and this is called while a thread is held. NULL: no memory.
 */
struct hi_control *arena_control_new(void);
void arena_control_free(struct hi_control *control);

#define ARENA_PATH "/memfd:" HI_MEMFD_NAME /* as /proc/PID/maps has it */
/* Where an arena begins, 0 = there is none: a gate that had to stay behind has no first page. */
remote_addr arena_find(const struct maps *maps);
/* A hole in the mappings of `size` bytes, as near to [lo, hi) as may be, below it rather than above; 0: none within reach of a jump. */
remote_addr arena_place(const struct maps *maps, uint64_t size, remote_addr lo, remote_addr hi);
/* What `interval` asks for: ring size, live-set size. Fills the layout fields of control (arena == 0). */
void arena_layout(const struct arena_plan *plan, struct hi_control *control);
/* What only the injector may say of the arena, into the target's own page of it. */
must_check int arena_note(const struct hi_control *control, const struct memory *memory);
/* Bytes of each ring, a power of two. */
uint64_t arena_ring_capacity(const struct hi_control *control);

/* What the gate is made of: templates, and the functions they lead to. */
struct arena_code {
	const struct payload_image *payload;
	const struct allocator *allocator;
	struct entries *entries; /* those of functions that are hooked there; none any more, if the arena came to lie where no jump leads from there */
	remote_addr hint;        /* where it should lie, 0 = anywhere */
};

/*
 * Creates the memfd in the target, fills it from outside, maps it part by part; the gate has one entry for each function that the allocator defines and the
 * payload can hook, bypassed (hook == original). `layout` has been through arena_layout and carries whatever else the control block must say before anything
 * exists. On failure everything is taken back (the remote is still open). -ENOBUFS: the target locks what it maps, and may lock no more.
 */
must_check int arena_map(struct arena *arena, struct remote *remote, const struct hi_control *layout, const struct arena_code *code);
/* Has the ring's pages allocated by us, so that they count against our memory limit and not the target's: megabytes, and so not while a thread is held. */
must_check int arena_touch_ring(const struct arena *arena);
/* Gives the payload room for stacks, a step ahead of what it uses. Once the ring is touched, and then once a round. */
void arena_extend_stacks(struct arena *arena);
/*
 * Removes the arena from the target: one munmap. keep_gate leaves the gate and its words, with bare jumps in every entry. May be repeated if it was cut short
 * at any step, and then with another keep_gate, too.
 */
int arena_unmap(const struct hi_control *control, struct remote *remote, const struct payload_image *payload, bool keep_gate);
/* Closes a descriptor in the target: a memfd that a dead injector left open. */
must_check int arena_close_fd(struct remote *remote, int fd);
/*
 * Gives the memory of rings and stacks back. Only once nothing writes there and all has been read: who keeps the file is a gate that stays, or a child that was
 * forked while attached, and neither will.
 */
void arena_free_rings(const struct arena *arena);
/* Our side only. Idempotent. */
void arena_close(struct arena *arena);

/* out_entry[f] = address of the gate entry of function f, 0 = none. */
must_check int arena_gate_entries(const struct hi_control *control, const struct memory *memory, remote_addr out_entry[HI_FUNCTION_COUNT]);
/* Is the arena at `base` what a child has of its parent's? From memory that anybody may have written to. */
bool arena_is_inherited(remote_addr base, const struct memory *memory);
/* Writes the head of the payload's state, armed == 0. */
must_check int arena_fill_state(const struct hi_control *control, const struct memory *memory);
/* Every entry's hook leads to the payload, which looks whether it is armed: before the first slot is written, as nobody reads them yet. */
must_check int arena_set_hooks(const struct hi_control *control, const struct memory *memory, const struct payload_image *payload);
/* Sampling begins, or ends, for all threads at once. */
must_check int arena_arm(const struct hi_control *control, const struct memory *memory);
must_check int arena_disarm(const struct hi_control *control, const struct memory *memory);
/* Every entry leads past the payload, for good. Works from the control block alone, and may be repeated. */
must_check int arena_bypass(const struct hi_control *control, const struct memory *memory, const struct patcher *patcher);

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

/* Where the head and the tables of the state lie, as offsets from its start. */
struct arena_state_layout {
	uint64_t thread_slots, occupancy, buckets, scratch, rules, known_stacks, walk_nodes, walk_edges, size;
};
/* Goes by the *_bits and *_levels of control. */
struct arena_state_layout arena_state_layout(const struct hi_control *control);

#endif
