/* SPDX-License-Identifier: MIT */
/*
 * tracee_late.c - the list of late threads. Whoever wants one takes it off the list first.
 */
#include "tracee_late.h"

#include <errno.h>

#include "hold.h"

enum { LATE_MAX = 64 };

static _Thread_local struct tracee late[LATE_MAX];
static _Thread_local size_t late_count;

void tracee_late_add(const struct tracee *tracee)
{
	if (late_count == LATE_MAX)
		return;
	late[late_count++] = *tracee;
	hold_begin();
}

static void drop(size_t index)
{
	late[index] = late[--late_count];
	hold_end();
}

bool tracee_late_take(pid_t tid, struct tracee *out_tracee, bool minds_filters)
{
	for (size_t i = 0; i < late_count; i++) {
		if (late[i].tid != tid || (minds_filters && !late[i].minds_filters))
			continue;
		*out_tracee = late[i];
		drop(i);
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
	tracee_note_held(tracee);
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
		drop(i);
	}
}

void tracee_late_end(void)
{
	tracee_late_look();
	while (late_count)
		drop(0);
}
