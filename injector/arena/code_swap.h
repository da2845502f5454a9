/* SPDX-License-Identifier: MIT */
/*
 * code_swap.h - code of the target, changed while threads run through it: not by writing to it, but by pages that take its place.
 *
 *   stage   The pages' mapping is duplicated into the arena (mremap with MREMAP_DONTUNMAP): there they are the file's, and nobody's. Where they were the
 *           same file's pages come in again at the next touch.
 *   write   What is to be changed is written to the duplicate, which nobody executes, from outside.
 *   swap    The duplicate is moved over the original, in one call: under the kernel's lock of the address space, so that a thread that comes there meanwhile
 *           waits in its page fault and finds the new pages.
 *   undo    The private copies are dropped (MADV_DONTNEED), and the file's pages are there again.
 *
 * So no page is ever writable and executable, none is written to while it is executed, and the mappings are what they were, while attached and after: pages
 * of the same file at the same offset are joined by the kernel. A CPU never sees the bytes under one physical address change, and the change of the mapping
 * ends in an interrupt on each CPU that runs the target, so that nothing stale is executed either (which is what cross-modifying code asks for).
 *
 * Needs Linux 5.13. Not for code that is locked in memory: a duplicated mapping loses that.
 */
#ifndef HI_CODE_SWAP_H
#define HI_CODE_SWAP_H

#include "elf_images.h"
#include "hi_wire.h"
#include "journal.h"
#include "remote.h"

/* Names a range of whole pages that is to be changed, in control: before anything is done about it. -ENOSPC: there are too many. */
must_check int code_swap_add(struct hi_control *control, remote_addr lo, remote_addr hi);
/* Whether all of the words lies in it. */
bool code_swap_covers(const struct hi_control *control, remote_addr at, size_t size);
/* Where the duplicate of a word of the target's code lies; 0: it is in no range. */
remote_addr code_swap_staged(const struct hi_control *control, remote_addr at);
/*
 * By a borrowed thread. Duplicates all ranges into the arena. -EINVAL: the kernel cannot, or the code is not such that it could be; -ENOMEM: a limit of the
 * target's. Then all is as it was.
 */
must_check int code_swap_stage(const struct hi_control *control, struct remote *remote);
/* By a borrowed thread. Each range takes the place of its original. What failed half-way may be undone. */
must_check int code_swap_in(const struct hi_control *control, struct remote *remote);

/* What a range holds. */
enum code_state {
	CODE_ORIGINAL, /* what the file has */
	CODE_CHANGED,  /* that, and words of the journal */
	CODE_FOREIGN,  /* other changes, too */
};
/* All ranges together. Where a file cannot be read any more only the words of the journal are looked at. */
enum code_state code_swap_look(const struct hi_control *control, const struct memory *memory, const struct elf_images *images);
/* By a borrowed thread. Drops what was changed. */
must_check int code_swap_undo(const struct hi_control *control, struct remote *remote);

#endif
