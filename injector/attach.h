/* SPDX-License-Identifier: MIT */
/* attach.h - DESIGN "Attach, step by step": from a process that preflight approved to a sampling one, or back to exactly what it was. */
#ifndef HI_ATTACH_H
#define HI_ATTACH_H

#include "attachment.h"

struct attach_options {
	uint64_t interval; /* mean bytes between samples; 1 = every allocation */
	uint64_t live_max; /* live samples to have room for; 0 = what fits the interval */
	bool tells_all;    /* every free is told; see struct arena_plan */
	enum hi_loader loader;
	enum hi_hook hook;
};

/*
 * On success the payload samples into attachment->arena.ring. On failure everything has been undone (by detach, if slots were written already) and
 * attachment->step says what failed. -ENOENT: no import of malloc to hook. -EADDRNOTAVAIL: HI_HOOK_ENTRY, and some
 * function cannot be hooked at its entry. -EAGAIN: no thread could be borrowed; try again.
 */
must_check int attach(struct attachment *attachment, const struct attach_options *options);

#endif
