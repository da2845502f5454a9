/* SPDX-License-Identifier: MIT */
/*
 * The room preflight/: may this process be attached to? preflight.h has the answer and preflight_print.c says it; a check is a function of one of the files
 * preflight_*.c and a line in the table of preflight.c. Looks from outside only; uses arena/, hooks/, elf/, target/ for what attach would find.
 */

/*
 * preflight.h - may we attach to this process? The answer, with the facts behind it, without touching the process.
 *
 * ptrace answers EPERM to nearly everything, so the causes are looked for one after the other, and the first one found is given together with one
 * remedy. A yes can be out of date a moment later; a no is meant for the user's eyes.
 */
#ifndef HI_PREFLIGHT_H
#define HI_PREFLIGHT_H

#include <stdio.h>

#include "arena.h"
#include "elf_images.h"
#include "memory.h"
#include "preflight_answer.h"

/* For who goes on with the program that was looked at, and with no other: its memory, and what was read of its objects (elf_images_update). */
struct preflight_program {
	struct memory memory;
	struct elf_images images;
};

/*
 * plan: what would be mapped there, for which it must have room; NULL = with defaults. 0 whatever the verdict is; negative errno if the question could not be
 * answered. out_program: to be closed by the caller; empty if the verdict is no. NULL: nobody goes on.
 */
must_check int preflight_run(pid_t pid, const struct arena_plan *plan, struct preflight *out_preflight, struct preflight_program *out_program);

/* ok, no-process, other-user ...: documented in heapinject(1), never renamed. */
const char *preflight_verdict_name(enum preflight_verdict verdict);

/* The refusal in one line without newline: cannot attach to 1234 (nginx): CAUSE; REMEDY */
void preflight_explain(const struct preflight *preflight, char *line, size_t size);

/* What `heapinject check` prints for a process that can be attached to. */
void preflight_print(FILE *stream, const struct preflight *preflight);
/* The same, and any refusal, as one JSON object on one line; its schema is in heapinject(1). Valid JSON whatever bytes the target's names hold. */
void preflight_print_json(FILE *stream, const struct preflight *preflight);

#endif
