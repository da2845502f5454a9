/* SPDX-License-Identifier: MIT */
/*
 * tracee_late.c - the list of late threads. A late thread is in nobody's hold: whoever wants it takes it off the list first.
 */
#include "tracee_late.h"

#include <errno.h>

enum { LATE_MAX = 64 };

static _Thread_local struct tracee late[LATE_MAX];
static _Thread_local size_t late_count;

void tracee_late_add(const struct tracee *tracee)
{
	if (late_count < LATE_MAX)
		late[late_count++] = *tracee;
}

bool tracee_late_take(pid_t tid, struct tracee *out_tracee)
{
	for (size_t i = 0; i < late_count; i++) {
		if (late[i].tid != tid)
			continue;
		*out_tracee = late[i];
		late[i] = late[--late_count];
		return true;
	}
	return false;
}

/* Nothing was done to it but the stop: not even the call that this broke off is to fail. */
static void let_go_unseen(struct tracee *tracee)
{
	struct arch_regs regs;

	if (tracee_get_regs(tracee, &regs) == 0 && arch_rewind_interrupted(&regs))
		(void)!tracee_set_regs(tracee, &regs);
	(void)!tracee_detach_stopped(tracee);
}

void tracee_late_look(void)
{
	for (size_t i = 0; i < late_count;) {
		const int error = tracee_has_stopped(&late[i]);

		if (error == -EAGAIN) {
			i++;
			continue;
		}
		if (!error)
			let_go_unseen(&late[i]);
		late[i] = late[--late_count];
	}
}
