/* SPDX-License-Identifier: MIT */
/* detach.h - DESIGN "Detach, step by step": leave the target as it was found, prove it, and write the receipt. */
#ifndef HI_DETACH_H
#define HI_DETACH_H

#include <stdio.h>

#include "attachment.h"
#include "journal.h"

/* What was undone, and how the target compares with what it was. */
struct receipt {
	bool target_gone; /* exited or replaced its program: nothing to restore */
	struct journal_restored slots;
	size_t healed_words, healed_registers;
	size_t threads_checked;
	uint64_t frames_leaked; /* hook frames that were counted for nobody (leak.h) */
	uint64_t frames_inside; /* what the wait for them ended with, if it failed: hook frames, */
	pid_t thread_inside;    /* or a thread that was inside or could not be stopped; 0 = none */
	uint64_t attach_stop_ns, restore_stop_ns, detach_stop_ns, longest_check_ns;
	uint64_t standstill_ns; /* the longest time for which all threads were stopped; 0 = never */
	bool has_before;        /* `before` is known */
	struct hi_snapshot before, after;
	size_t own_mappings_left; /* lines of maps that are still ours */
	size_t earlier_gates;     /* and those of inert gates that earlier sessions had to leave */
	uint64_t unsearched;      /* bytes of shared memory that were too many to search for copies */
	size_t copies_in_files;   /* of function pointers, in the last look at files that are mapped shared: they stay */
	bool gate_kept;           /* escaped pointers cannot be ruled out: an inert page stays */
	bool is_clean;            /* nothing of ours is left */
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
