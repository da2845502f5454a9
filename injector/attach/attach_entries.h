/* SPDX-License-Identifier: MIT */
/* attach_entries.h - what an attach does about functions that are hooked at their entries: which they are, and the jumps in their code. Undone by detach. */
#ifndef HI_ATTACH_ENTRIES_H
#define HI_ATTACH_ENTRIES_H

#include "attachment.h"

/* Each: -EADDRNOTAVAIL: HI_HOOK_ENTRY, and some function would need slots. */

/* Fills attachment->entries and by_slot, while the target runs. */
must_check int attach_entries_choose(struct attachment *attachment, enum hi_hook hook);
/* Notes in the layout which code will be changed; where that is too much, or not as its file has it, no function is hooked at its entry after all. */
must_check int attach_entries_plan(struct attachment *attachment, enum hi_hook hook, struct hi_control *layout);
/* Once the arena is mapped, which may have dropped some: what is left to slots. */
must_check int attach_entries_settle(struct attachment *attachment, enum hi_hook hook);
/* Once the gate leads to the payload: by a borrowed thread the functions lead to the gate, all at once. */
must_check int attach_entries_write(struct attachment *attachment);
/*
 * While attached: did somebody put a breakpoint on a jump of ours, without tracing the process? A uprobe is that. When it is taken away, its first byte alone
 * will be that of the file: so the others are made what the file has there, too, while nobody executes them. True: the function is not hooked any more.
 */
must_check bool attach_entries_yield(const struct attachment *attachment);

#endif
