/* SPDX-License-Identifier: MIT */
/*
 * journal.h - writes GOT slots and restores them. Every change is recorded in the control block
 * before it is made, and can be undone from that alone.
 *
 * A slot is eight aligned bytes that threads of the target read at any time, so the caller passes a
 * way to change such words (patch.h). A value is restored only if the slot still holds ours: a
 * later change by other code (the lazy resolver, another interposer) is left alone.
 */
#ifndef HI_JOURNAL_H
#define HI_JOURNAL_H

#include "hi_wire.h"
#include "procfs.h"
#include "slots.h"
#include "patch.h"

/*
 * The two copies of the journal. The injector goes by its own; the target's is for a later
 * injector.
 */
struct journal {
	struct hi_control *own, *shared;
};

/*
 * Slots of objects that are never unloaded may be written at any time. Slots of other objects may
 * be written only while all threads are stopped: between the last look and the write such an object
 * may have been unloaded and another loaded in its place, and the word written is then not a slot.
 */
enum journal_kind {
	JOURNAL_UNLOADABLE = HI_JOURNAL_UNLOADABLE,
	JOURNAL_PINNED = HI_JOURNAL_PINNED,
};

/* What to hook: slots, and the gate entry of each function. */
struct journal_plan {
	const struct slots *slots;
	const remote_addr *entry; /* HI_FUNCTION_COUNT of them, 0 = none */
	const struct memory *memory;
	const struct maps *maps; /* from when the slots were found: which pages are read-only */
	enum journal_kind which;
};

/*
 * Points each slot of this kind at the gate entry of its function. Skips slots that changed since
 * they were read, that vanished, or that already hold ours: a call that failed may be repeated.
 * *written grows by the number of slots changed. -ENOSPC: the journal is full. Other errors are the
 * patcher's.
 */
must_check int journal_write(const struct journal *journal, const struct journal_plan *plan,
			     const struct patcher *patcher, size_t *written);

/*
 * Records a word of code that code_swap.h is about to change, in the part of the control block that
 * no child can write to; arena_note stores that part in the target. There is one entry for each
 * word, which two functions may share. -ENOSPC: no room for more.
 */
must_check int journal_plan_code(struct hi_control *control, remote_addr at, uint64_t old_value,
				 uint64_t new_value);
/*
 * The values of a changed word of code before and while it is hooked; false: it is not one of ours.
 */
bool journal_code_at(const struct hi_control *control, remote_addr at, uint64_t *out_old_value,
		     uint64_t *out_new_value);

/*
 * Frees the entries of slots that lie in no loaded object and do not hold our value: they were
 * unloaded with their library.
 */
void journal_retire(const struct journal *journal, const struct memory *memory,
		    const struct elf_images *images);

struct journal_restored {
	size_t written;     /* slots that were changed, according to the journal */
	size_t restored;    /* hold the old value again */
	size_t overwritten; /* held neither our value nor the old one: left alone */
	size_t vanished;    /* their memory is gone */
};
/* The number of slots of this kind that remain to be restored. */
size_t journal_left(const struct hi_control *control, enum journal_kind which);
/*
 * Restores all slots of this kind. Idempotent; also works on a copy of a dead injector's control
 * block. Adds to *result, except to `written`.
 */
must_check int journal_restore(struct hi_control *control, const struct patcher *patcher,
			       enum journal_kind which, struct journal_restored *result);

#endif
