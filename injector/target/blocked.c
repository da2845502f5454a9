/* SPDX-License-Identifier: MIT */
/* blocked.c - see blocked.h. Enter at blocked_look. */
#include "blocked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch.h"
#include "memory_sharers.h"
#include "plain_text.h"
#include "proc_file.h"
#include "same_memory.h"

#define WHERE_MAX 64

/* In stat the state follows the name, which may contain anything. */
char blocked_state(pid_t pid, pid_t tid)
{
	char *text;
	if (proc_file_read(pid, tid, "stat", &text, NULL))
		return 0;
	const char *end = strrchr(text, ')');
	const char state = end && end[1] ? end[2] : 0;
	free(text);
	return state;
}

/*
 * The child runs in its parent's memory until it execs or exits. Other children may do so
 * permanently; the vfork child is the youngest.
 */
static pid_t find_child(pid_t pid, pid_t tid)
{
	struct same_memory_reference reference;
	char *text;
	if (same_memory_open(pid, &reference) || proc_file_read(pid, tid, "children", &text, NULL))
		return 0;
	pid_t found = 0;
	for (char *at = text, *end;; at = end) {
		const pid_t child = (pid_t)strtol(at, &end, 10);
		if (end == at)
			break;
		if (same_memory_ask(&reference, child) == SAME_MEMORY_YES)
			found = child;
	}
	free(text);
	return found;
}

/*
 * A child that has threads, or that waits in a vfork of its own, is not handled: it keeps the
 * default effect.
 */
static void look_at_child(struct blocked *blocked)
{
	const pid_t pid = blocked->child;
	struct proc_status child;
	struct proc_syscall call;
	if (proc_status_read(pid, pid, &child) || child.threads != 1)
		return;
	blocked->child_traced =
		child.tracer && child.tracer != getpid() && child.tracer != gettid();
	if (child.state != 'D')
		blocked->effect = ARCH_CALL_READS;
	else if (!proc_syscall_read(pid, pid, &call) && !call.running)
		blocked->effect = arch_call_effect(call.number);
}

int blocked_look(pid_t pid, pid_t tid, struct blocked *out_blocked)
{
	struct blocked blocked = {.tid = tid, .effect = ARCH_CALL_MAPS};
	const char state = blocked_state(pid, tid);
	if (!state)
		return -ESRCH;
	blocked.is_blocked = state == 'D' && !proc_syscall_read(pid, tid, &blocked.call) &&
			     !blocked.call.running;
	if (blocked.is_blocked && memory_thread_is_in_vfork(tid, &blocked.call)) {
		blocked.child = find_child(pid, tid);
		if (blocked.child)
			look_at_child(&blocked);
	} else if (blocked.is_blocked) {
		blocked.effect = arch_call_effect(blocked.call.number);
	}
	*out_blocked = blocked;
	return 0;
}

static void read_name(pid_t pid, pid_t tid, const char *file, char into[WHERE_MAX])
{
	char *text;
	into[0] = 0;
	if (proc_file_read(pid, tid, file, &text, NULL))
		return;
	text[strcspn(text, "\n")] = 0;
	plain_text_copy(into, WHERE_MAX, text);
	free(text);
}

void blocked_explain(pid_t pid, pid_t tid, char text[BLOCKED_TEXT])
{
	char name[WHERE_MAX], where[WHERE_MAX];
	struct blocked blocked;
	if (blocked_look(pid, tid, &blocked)) {
		snprintf(text, BLOCKED_TEXT, "thread %d has ended meanwhile", (int)tid);
		return;
	}
	read_name(pid, tid, "comm", name);
	const int used = snprintf(text, BLOCKED_TEXT, "thread %d (%s) ", (int)tid, name);
	char *rest = text + used;
	const size_t room = (size_t)(BLOCKED_TEXT - used);
	if (blocked.child) {
		read_name(blocked.child, blocked.child, "comm", name);
		snprintf(rest, room, "waits in vfork for its child %d (%s)%s", (int)blocked.child,
			 name, blocked.child_traced ? ", which another process traces" : "");
	} else if (blocked.is_blocked) {
		read_name(pid, tid, "wchan", where);
		snprintf(rest, room, "does not stop: state D%s%s",
			 where[0] && where[0] != '0' ? " in " : "",
			 where[0] && where[0] != '0' ? where : "");
	} else {
		snprintf(rest, room, "did not stop in time: it got no CPU");
	}
}
