/* SPDX-License-Identifier: MIT */
/*
 * journal.h - GOT slots, written and written back: every change is in the control block before it is made, and undone from there alone.
 *
 * A slot is eight aligned bytes that threads of the target read at any time, so whoever calls says how such words are to be changed (patch.h). A value is put
 * back only where ours still stands: whoever wrote the slot after us (the lazy resolver, another interposer) is respected.
 */
#ifndef HI_JOURNAL_H
#define HI_JOURNAL_H

#include "hi_wire.h"
#include "procfs.h"
#include "slots.h"
#include "patch.h"

/* Where it is kept. What we go by is our own; the target's is for whoever comes after us. */
struct journal {
	struct hi_control *own, *shared;
};

/*
 * Slots of objects that are never unloaded may be written at any time. Those of others only while all threads stand still: between the last look and the write
 * such an object may have gone and another come to its place, and what is written then is not a slot.
 */
enum journal_kind {
	JOURNAL_UNLOADABLE = HI_JOURNAL_UNLOADABLE,
	JOURNAL_PINNED = HI_JOURNAL_PINNED,
};

/* What is to be hooked: slots, and the gate entry of each function. */
struct journal_plan {
	const struct slots *slots;
	const remote_addr *entry; /* HI_FUNCTION_COUNT of them, 0 = none */
	const struct memory *memory;
	const struct maps *maps; /* as they were when the slots were found: which pages are read-only */
	enum journal_kind which;
};

/*
 * Points each slot of this kind at the gate entry of its function. Slots that changed since they were read, or vanished, are skipped, and so are those that
 * hold ours: a call that failed may be repeated. *written grows by how many were changed. -ENOSPC: the journal is full. Otherwise the patcher's error.
 */
must_check int journal_write(const struct journal *journal, const struct journal_plan *plan, const struct patcher *patcher, size_t *written);

/*
 * Words of code that are about to be changed (see code_swap.h, which does it), in the part of the control block that no child can write to; to be stored there
 * by arena_note. There is one entry for each word, which two functions may share. -ENOSPC: no room for more.
 */
must_check int journal_plan_code(struct hi_control *control, enum hi_function function, remote_addr at, uint64_t old_value, uint64_t new_value);
/* How many functions have words of code there. */
size_t journal_functions(const struct hi_control *control);
/* The value that a word of code has while it is hooked; false: it is none of ours. */
bool journal_code_at(const struct hi_control *control, remote_addr at, uint64_t *out_old_value, uint64_t *out_new_value);

/* Slots that lie in no loaded object and do not hold our value went away with their library: their entries may be used again. */
void journal_retire(const struct journal *journal, const struct memory *memory, const struct elf_images *images);

struct journal_restored {
	size_t written;     /* slots that the journal says we changed */
	size_t restored;    /* hold the old value again */
	size_t overwritten; /* held neither ours nor the old value: left alone */
	size_t vanished;    /* their memory is gone */
};
/* How many words of this kind are to be written back. */
size_t journal_left(const struct hi_control *control, enum journal_kind which);
/* Writes back all there is of this kind; idempotent, also from a copy of a dead injector's control block. Adds to *result, but for `written`. */
must_check int journal_restore(struct hi_control *control, const struct patcher *patcher, enum journal_kind which, struct journal_restored *result);

#endif
