/* SPDX-License-Identifier: MIT */
/* run_child.h - the program that `heapinject run` has started, for its session. */
#ifndef HI_RUN_CHILD_H
#define HI_RUN_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "must_check.h"

struct run_child {
	pid_t pid;
	bool goes; /* it was let go, and is no longer to be ended if something fails */
	/* rounds in which it may still stop by a signal that came (run_signals.h) */
	unsigned stop_looks;
};

struct attachment;

/*
 * It is attached to: lets it go on; is_watched: and exit_watch.h watches it. 0, or negative errno,
 * which was printed; it is to be ended.
 */
must_check int run_child_let_go(struct run_child *child, const struct attachment *attachment,
				bool is_watched);
/* It has executed another program: says which, in words that need not be freed. */
const char *run_child_explain_exec(const struct run_child *child);
/* Prints what was never freed, from the profile at heap_path, to standard error. */
void run_child_show_kept(const char *heap_path);

#endif
