/* SPDX-License-Identifier: MIT */
/*
 * Room attach/: from a process that preflight approved to one that samples, and back to exactly
 * what it was.
 *
 *   attach.h           the steps of an attach: enter here; attachment.h: what an attach holds
 *   detach.h           the steps back; recover.h: the same after an injector that died; heir.h: for
 *                      a process that took over the memory of one that exited
 *   restore.h          writes code and slots back
 *   receipt.h          what a detach did, as it is printed
 *   quiesce.h          waits until no thread is in the payload; stale_frames.h: clears counts of
 *                      threads that ended there
 *   escaped.h          finds copies of gate addresses; escaped_fix_up.h: replaces them; doubts.h:
 *                      copies that nobody can be certain of
 *   watch.h            while attached: libraries that come and go
 *   refusal.h          what an error of attach means to the user
 *
 * Uses all rooms below.
 */

/*
 * attach.h - docs/architecture.md "Attach, in order": from a process that preflight approved to a
 * sampling one, or back to exactly what it was.
 */
#ifndef HI_ATTACH_H
#define HI_ATTACH_H

#include "attachment.h"

struct attach_options {
	uint64_t interval; /* mean bytes between samples; 1 = every allocation */
	bool adapts;       /* adapts, begin: see struct arena_plan */
	uint32_t begin;
	uint64_t live_max;      /* live samples to have room for; 0 = what fits the interval */
	bool records_all_frees; /* every free is recorded; see struct arena_plan */
	bool has_mappings;      /* functions that map are hooked, too */
	/* functions of pools, which are hooked, too; NULL = none */
	const struct named_functions *named;
	bool has_probes; /* each sample also passes a probe (arena/probes.h) */
	enum hi_loader loader;
	enum hi_hook hook;
	const struct hi_prefixes *prefixes; /* as in allocators_find */
};

/*
 * On success the payload samples into attachment->arena.ring. On failure everything has been undone
 * (by detach, if slots were already written), unless attachment->left_behind is set.
 * attachment->step says what failed. -ENOENT: no import of malloc to hook. -EADDRNOTAVAIL:
 * HI_HOOK_ENTRY, and some function cannot be hooked at its entry. -EAGAIN: no thread could be
 * borrowed; try again.
 */
must_check int attach(struct attachment *attachment, const struct attach_options *options);

#endif
