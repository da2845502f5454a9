/* SPDX-License-Identifier: MIT */
/*
 * receipt.h - what a detach did: what was undone, what is left and why, how long threads were
 * stopped, and how the target compares with its state before the attach.
 *
 * The steps of detach.c fill it in. A zeroed receipt says that nothing was done. Nothing here
 * touches the target, and a receipt owns no memory.
 */
#ifndef HI_RECEIPT_H
#define HI_RECEIPT_H

#include <stdio.h>

#include "doubts.h"
#include "held.h"
#include "journal.h"
#include "stop_world.h"

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
	struct held held; /* all stops since this process began, or began with this target */
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
	int err;                 /* of that step; 0 if there is none */
};

/*
 * Notes a step that ended with err, if that is the first error; `step` is a literal that says what
 * was being done. Returns err.
 */
int receipt_fail(struct receipt *receipt, const char *step, int err);
/* Notes what prevented that step, if that is not known yet; "" is nothing. */
void receipt_note_obstacle(struct receipt *receipt, const char obstacle[BLOCKED_TEXT]);
/*
 * May a pointer to the gate be left? Copies stay that cannot be fixed up, or memory or registers
 * could not be searched for them. Then the gate has to stay, inert.
 */
bool receipt_has_doubts(const struct receipt *receipt);
/* The receipt as the user sees it, several lines. */
void receipt_print(const struct receipt *receipt, FILE *out);

#endif
