/* SPDX-License-Identifier: MIT */
/*
 * code_swap.h - changes code of the target while threads run through it. It does not write to live
 * pages but replaces them.
 *
 *   stage   The pages' mapping is duplicated into the arena (mremap with MREMAP_DONTUNMAP). The
 *           duplicate holds the file's pages, and no thread uses it. At the old place the same
 *           file's pages are faulted in again at the next access.
 *   write   The changes are written to the duplicate, which no thread executes, from outside.
 *   swap    The duplicate is moved over the original in one call, under the kernel's lock of the
 *           address space. A thread that arrives meanwhile waits in its page fault and finds the
 *           new pages.
 *   undo    The private copies are dropped (MADV_DONTNEED), and the file's pages are there again.
 *
 * So no page is ever writable and executable, and none is written to while it is executed. A CPU
 * never sees the bytes under one physical address change. The change of the mapping ends in an
 * interrupt on each CPU that runs the target, so that no stale code is executed either (which is
 * what cross-modifying code requires).
 *
 * The list of mappings is the same afterwards: as file and offset match, the kernel joins the moved
 * mapping with its neighbours. Newer kernels (6.18) do so while attached, too. Older ones (6.1) do
 * not join a mapping that has private pages with one that has none: it is apart as long as the
 * changes are there, and undo joins it.
 *
 * Needs Linux 5.13. Not for code that is locked in memory: a duplicated mapping is not locked any
 * more.
 */
#ifndef HI_CODE_SWAP_H
#define HI_CODE_SWAP_H

#include "elf_images.h"
#include "hi_wire.h"
#include "journal.h"
#include "remote.h"

/*
 * Records in control a range of whole pages that is to be changed, before anything is done to it.
 * -ENOSPC: there are too many.
 */
must_check int code_swap_add(struct hi_control *control, remote_addr lo, remote_addr hi);
/* Do the `size` bytes at `at` lie in one range? */
bool code_swap_covers(const struct hi_control *control, remote_addr at, size_t size);
/* The address of the duplicate of a word of the target's code; 0: it is in no range. */
remote_addr code_swap_staged(const struct hi_control *control, remote_addr at);
/*
 * Through a borrowed thread: duplicates all ranges into the arena. -EINVAL: the kernel cannot, or
 * this code cannot be duplicated. -ENOMEM: a limit of the target. After an error the code is as it
 * was.
 */
must_check int code_swap_stage(const struct hi_control *control, struct remote *remote);
/*
 * Through a borrowed thread: each duplicate replaces its original. If this fails half-way,
 * code_swap_undo undoes it.
 */
must_check int code_swap_in(const struct hi_control *control, struct remote *remote);

/* What a range holds. */
enum code_state {
	CODE_ORIGINAL, /* the contents of the file */
	CODE_CHANGED,  /* the contents of the file, and words of the journal */
	CODE_FOREIGN,  /* other changes, too */
};
/*
 * The state of all ranges together. Where a file cannot be read any more, only the words of the
 * journal are checked.
 */
enum code_state code_swap_look(const struct hi_control *control, const struct memory *memory,
			       const struct elf_images *images);
/* Is a range a mapping of its own, though it could be one with what is beside it? */
bool code_swap_is_apart(const struct hi_control *control, const struct maps *maps);
/* Through a borrowed thread: drops all changes. maps: the target's, as they are before that. */
must_check int code_swap_undo(const struct hi_control *control, const struct maps *maps,
			      struct remote *remote);

#endif
