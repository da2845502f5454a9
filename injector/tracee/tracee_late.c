/* SPDX-License-Identifier: MIT */
/* tracee_late.c - the list of late threads. A caller that wants one takes it off the list first. */
#include "tracee_late.h"

#include <errno.h>
#include <stdlib.h>

#include "clock.h"
#include "hold.h"
#include "procfs.h"

enum {
	END_MS = 3000,       /* for threads that only lack a CPU; less than the payload's deadman */
	BLOCKED_END_MS = 20, /* for threads that cannot stop: most such waits are over by then */
};

static _Thread_local struct tracee *late;
static _Thread_local size_t late_count, late_room;

static int make_room(void)
{
	const size_t room = late_room ? late_room * 2 : 64;
	struct tracee *grown = late_count < late_room ? late : realloc(late, room * sizeof(*late));

	if (!grown)
		return -ENOMEM;
	late_room = late_count < late_room ? late_room : room;
	late = grown;
	return 0;
}

void tracee_late_add(const struct tracee *tracee)
{
	if (make_room())
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

void tracee_late_look(void)
{
	for (size_t i = 0; i < late_count;) {
		const int err = tracee_has_stopped(&late[i]);

		if (err == -EAGAIN) {
			i++;
			continue;
		}
		tracee_note_held(&late[i]);
		if (late[i].state == TRACEE_STOPPED)
			(void)!tracee_detach_stopped(&late[i]);
		drop(i);
	}
}

/* Will any of them still stop in time? */
static bool is_any_coming(int64_t waited_ns)
{
	for (size_t i = 0; i < late_count; i++) {
		struct proc_status status;

		if (proc_status_read(late[i].pid, late[i].tid, &status) == 0 &&
		    status.state != 'Z' && status.state != 'X' &&
		    waited_ns < (status.state == 'D' ? BLOCKED_END_MS : END_MS) * 1000000ll)
			return true;
	}
	return false;
}

void tracee_late_end(void)
{
	const int64_t begun_ns = (int64_t)clock_now_ns();

	tracee_late_look();
	while (late_count && is_any_coming((int64_t)clock_now_ns() - begun_ns)) {
		hold_progress();
		ptrace_nap(PTRACE_NAP_NS);
		tracee_late_look();
	}
	while (late_count)
		drop(0);
	free(late);
	late = NULL;
	late_room = 0;
}
