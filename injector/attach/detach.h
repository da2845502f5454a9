/* SPDX-License-Identifier: MIT */
/*
 * detach.h - docs/architecture.md "Detach, in order": leaves the target as it was found, proves it,
 * and writes the receipt.
 */
#ifndef HI_DETACH_H
#define HI_DETACH_H

#include <stdio.h>

#include "attachment.h"
#include "doubts.h"
#include "held.h"
#include "journal.h"
#include "stop_world.h"

/* What was undone, and how the target compares with its state before the attach. */
struct receipt {
	/* exited or replaced its program: nothing to restore */
	bool target_gone;
	bool went_meanwhile;                  /* target_gone, but it was there when detach began */
	size_t functions, functions_restored; /* hooked at their entry */
	struct journal_restored slots;
	size_t fixed_words, fixed_registers;
	size_t threads_checked;
	/* hook frames whose threads are no longer inside (stale_frames.h) */
	uint64_t frames_leaked;
	/* if the wait for threads failed: hook frames that were still inside */
	uint64_t frames_inside;
	/* if it failed without such frames: a thread inside, or not stoppable */
	pid_t thread_inside;
	uint64_t attach_stop_ns, restore_stop_ns, detach_stop_ns, longest_check_ns;
	struct held held;                      /* all stops since this process began */
	struct stop_world_account world_stops; /* and those of all threads at once */
	/*
	 * libraries loaded by dlopen could not be hooked in the end: that takes a stop of all
	 * threads
	 */
	bool is_unhooked;
	/* a thread could not be stopped, so its registers were not seen; `unseen` explains */
	bool is_unseen;
	char unseen[BLOCKED_TEXT];
	char obstacle[BLOCKED_TEXT]; /* what prevented the step that failed; "" = not known */
	bool has_before;             /* `before` is known */
	struct hi_snapshot before, after;
	size_t own_mappings_left; /* lines of maps that are still ours */
	size_t earlier_gates;     /* lines of maps of inert gates left by earlier sessions */
	/* bytes of shared memory not searched for copies, as they were too many */
	uint64_t unsearched;
	size_t copies_left; /* copies in memory that stay, as not all threads could be stopped */
	uint64_t swapped;   /* bytes not searched, as they are swapped out */
	/* copies of function pointers in shared mappings of files, in the last look: they stay */
	size_t copies_in_files;
	/* copies were too many to be fixed up while all threads are stopped: they stay */
	bool copies_too_many;
	struct doubts doubts;    /* copies that cannot be fixed up for certain, in the last look */
	bool gate_kept;          /* escaped pointers cannot be ruled out: an inert page stays */
	bool is_clean;           /* nothing of ours is left */
	pid_t died;              /* the process whose place another one took (heir.h); 0 = none */
	const char *failed_step; /* NULL, or what could not be done */
	int err;
};

/*
 * Works from attachment->control, attachment->memory and the payload image alone, so it serves a
 * session of our own and one whose injector died. Idempotent: a failed detach may be repeated, now
 * or by another process. Returns 0 if nothing of ours is left (or an inert gate page by intention),
 * else the first error.
 */
int detach(struct attachment *attachment, struct receipt *out_receipt);

/*
 * For a target in which only descriptors (attachment->leftover_fd) are left: closes them in the
 * target.
 */
int detach_descriptors(struct attachment *attachment);

/* The receipt as the user sees it, several lines. */
void receipt_print(const struct receipt *receipt, FILE *out);

#endif
