/* SPDX-License-Identifier: MIT */
/*
 * attach_entries.h - what an attach does about functions that are hooked at their entries: chooses
 * them and writes the jumps into their code. detach undoes it.
 */
#ifndef HI_ATTACH_ENTRIES_H
#define HI_ATTACH_ENTRIES_H

#include "attachment.h"

/*
 * Each function that returns an int: -EADDRNOTAVAIL: HI_HOOK_ENTRY, and some function would need
 * slots.
 */

/* Fills attachment->entries and by_slot, while the target runs. */
must_check int attach_entries_choose(struct attachment *attachment, enum hi_hook hook);
/*
 * Records in the layout which code will be changed. If that is too much code, or code differs from
 * its file, no function is hooked at its entry.
 */
must_check int attach_entries_plan(struct attachment *attachment, enum hi_hook hook,
				   struct hi_control *layout);
/*
 * To be called once the arena is mapped, which may have dropped some entries: determines which
 * functions are left to slots.
 */
must_check int attach_entries_settle(struct attachment *attachment, enum hi_hook hook);
/*
 * To be called once the gate leads to the payload: a borrowed thread makes all hooked functions
 * lead to the gate, all at once.
 */
must_check int attach_entries_write(struct attachment *attachment);
/*
 * While attached: did another program put a breakpoint on one of our jumps without tracing the
 * process? A uprobe does that. When a uprobe is removed, the kernel restores its first byte alone,
 * from the file. So this writes the file's bytes after the first one, too, while no thread executes
 * them; or, where the uprobe is gone already, before another thread does. True: the function is not
 * hooked any more. Remembers in attachment->look what it has read.
 */
must_check bool attach_entries_yield(struct attachment *attachment);

#endif
