/* SPDX-License-Identifier: MIT */
/* detach.h - DESIGN "Detach, step by step": leave the target as it was found, prove it, and write the receipt. */
#ifndef HI_DETACH_H
#define HI_DETACH_H

#include <stdio.h>

#include "attachment.h"
#include "doubts.h"
#include "held.h"
#include "journal.h"
#include "stop_world.h"

/* What was undone, and how the target compares with what it was. */
struct receipt {
	bool target_gone;                     /* exited or replaced its program: nothing to restore */
	bool went_meanwhile;                  /* target_gone, and it was there when detach began */
	size_t functions, functions_restored; /* that were hooked at their entry */
	struct journal_restored slots;
	size_t fixed_words, fixed_registers;
	size_t threads_checked;
	uint64_t frames_leaked; /* hook frames that were counted for nobody (stale_frames.h) */
	uint64_t frames_inside; /* what the wait for them ended with, if it failed: hook frames, */
	pid_t thread_inside;    /* or a thread that was inside or could not be stopped; 0 = none */
	uint64_t attach_stop_ns, restore_stop_ns, detach_stop_ns, longest_check_ns;
	struct held held;                      /* all stops since this process began */
	struct stop_world_account world_stops; /* and those of all threads at once */
	bool is_unhooked;                      /* libraries that came by dlopen could not be hooked in the end, as that takes a stop of the world */
	bool is_unseen;                        /* a thread could not be stopped, so that its registers were not seen: */
	char unseen[BLOCKED_TEXT];
	char obstacle[BLOCKED_TEXT]; /* who was in the way of the step that failed; "" = nobody is known */
	bool has_before;             /* `before` is known */
	struct hi_snapshot before, after;
	size_t own_mappings_left; /* lines of maps that are still ours */
	size_t earlier_gates;     /* and those of inert gates that earlier sessions had to leave */
	uint64_t unsearched;      /* bytes of shared memory that were too many to search for copies */
	size_t copies_left;       /* in memory, that stay, as the target would not stand still */
	uint64_t swapped;         /* bytes that were not searched, as they are swapped out */
	size_t copies_in_files;   /* of function pointers, in the last look at files that are mapped shared: they stay */
	bool copies_too_many;     /* to be turned back while everybody waits: they stay */
	struct doubts doubts;     /* copies that nobody can turn back for certain, in the last look */
	bool gate_kept;           /* escaped pointers cannot be ruled out: an inert page stays */
	bool is_clean;            /* nothing of ours is left */
	pid_t died;               /* the process that another took the place of (heir.h); 0 = none */
	const char *failed_step;  /* NULL, or what could not be done */
	int error;
};

/*
 * Works from attachment->control, attachment->memory and the payload image alone, so it serves a session of our own and one whose injector died. Idempotent:
 * what failed may be tried again, now or by another process. Returns 0 if nothing of ours is left (or an inert gate page by intention), else the first error.
 */
int detach(struct attachment *attachment, struct receipt *out_receipt);

/* All that is left are descriptors (attachment->leftover_fd): closes them in the target. */
int detach_descriptors(struct attachment *attachment);

/* The receipt as the user sees it, several lines. */
void receipt_print(const struct receipt *receipt, FILE *out);

#endif
