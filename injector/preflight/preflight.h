/* SPDX-License-Identifier: MIT */
/*
 * Room preflight/: may the injector attach to this process? preflight.h has the answer and
 * preflight_print.c prints it. A check is a function in one of the files preflight_*.c and a line
 * in the table of preflight.c. Examines the process from outside only; uses arena/, hooks/, elf/,
 * target/ to find what attach would find.
 */

/*
 * preflight.h - may the injector attach to this process? The answer, with the facts behind it,
 * without touching the process.
 *
 * ptrace answers EPERM in nearly every case, so the causes are checked one after the other, and the
 * first one found is reported together with one remedy. A yes can be out of date a moment later; a
 * no is written for the user.
 */
#ifndef HI_PREFLIGHT_H
#define HI_PREFLIGHT_H

#include <stdio.h>

#include "arena.h"
#include "elf_images.h"
#include "memory.h"
#include "preflight_answer.h"

/*
 * For a caller that continues with exactly the program that was examined: its memory, and the data
 * read about its objects (elf_images_update).
 */
struct preflight_program {
	struct memory memory;
	struct elf_images images;
};

/*
 * plan: what would be mapped there and needs room; NULL = the defaults. prefixes: of allocators
 * that must be there, as in allocators_find. Returns 0 whatever the verdict is, or a negative errno
 * if the question could not be answered. out_program: closed by the caller; empty if the verdict is
 * no. NULL: the caller does not continue.
 */
must_check int preflight_run(pid_t pid, const struct arena_plan *plan,
			     const struct hi_prefixes *prefixes, struct preflight *out_preflight,
			     struct preflight_program *out_program);

/*
 * The verdict's name: ok, no-process, other-user ... These are documented in heapinject(1) and
 * never renamed.
 */
const char *preflight_verdict_name(enum preflight_verdict verdict);

/*
 * The refusal in one line without newline: cannot attach to 1234 (nginx): CAUSE; REMEDY. what: that
 * cannot be done to the process, "attach to".
 */
void preflight_explain(const struct preflight *preflight, const char *what, char *line,
		       size_t size);

/* What `heapinject check` prints for a process that can be attached to. */
/* in_detail: each function of the allocators, too. */
void preflight_print(FILE *stream, const struct preflight *preflight, bool in_detail);
/*
 * Prints the same, or any refusal, as one JSON object on one line; its schema is in heapinject(1).
 * The JSON is valid whatever bytes the target's names hold.
 */
void preflight_print_json(FILE *stream, const struct preflight *preflight);

#endif
