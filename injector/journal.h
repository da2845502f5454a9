/* SPDX-License-Identifier: MIT */
/*
 * journal.h - GOT slots, written and written back: every change is in the control block before it is made, and undone from there alone.
 *
 * A slot is eight aligned bytes, written in one piece while the target runs; a library that vanishes meanwhile is a failed write, not a crash. A value is put
 * back only where ours still stands: whoever wrote the slot after us (the lazy resolver, another interposer) is respected.
 */
#ifndef HI_JOURNAL_H
#define HI_JOURNAL_H

#include "hi_wire.h"
#include "slots.h"

/* Where it is kept. What we go by is our own; the target's is for whoever comes after us. */
struct journal {
	struct hi_control *own, *shared;
};

/*
 * Slots of objects that are never unloaded may be written at any time. Those of others only while all threads stand still: between the last look and the write
 * such an object may have gone and another come to its place, and what is written then is not a slot.
 */
enum journal_slots { JOURNAL_LASTING, JOURNAL_PASSING };

/*
 * Points each slot of this kind at the gate entry of its function. Slots that changed since they were read, or vanished, are skipped. out_written: how many
 * hold ours now. -ENOSPC: the journal is full; what was written stays written. Only errors of the target as a whole (-ESRCH) are reported otherwise.
 */
must_check int journal_write(const struct journal *journal, const struct memory *memory, const struct slots *slots, const remote_addr entry[HI_FUNCTION_COUNT],
			     enum journal_slots which, size_t *out_written);

/* Slots that lie in no loaded object and do not hold our value went away with their library: their entries may be used again. */
void journal_retire(const struct journal *journal, const struct memory *memory, const struct elf_images *images);

struct journal_restored {
	size_t written;     /* slots that the journal says we changed */
	size_t restored;    /* hold the old value again */
	size_t overwritten; /* held neither ours nor the old value: left alone */
	size_t vanished;    /* their memory is gone */
};
/* Is any slot of this kind to be written back? */
bool journal_has(const struct hi_control *control, enum journal_slots which);
/* Writes back all there is of this kind; idempotent, also from a copy of a dead injector's control block. Adds to *result. */
must_check int journal_restore(struct hi_control *control, const struct memory *memory, enum journal_slots which, struct journal_restored *result);

#endif
