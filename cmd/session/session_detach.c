/* SPDX-License-Identifier: MIT */
/*
 * session_detach.c - `heapinject detach PID`: asks the session that is attached to end, or cleans
 * up after one that died.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control_socket.h"
#include "detach.h"
#include "held.h"
#include "hi_exit.h"
#include "recover.h"
#include "session.h"
#include "session_request.h"
#include "stop_world.h"

#define LOCK_PATIENCE 20 /* number of tries; with the wait in attachment_open ten seconds */

static int detach_orphan(struct attachment *attachment)
{
	struct receipt receipt;
	if (!attachment->control) { /* heapinject was killed before it had mapped anything */
		const size_t count = attachment->leftover_count;
		int err = detach_descriptors(attachment);
		if (err)
			fprintf(stderr,
				"heapinject: cannot close the descriptors that a killed heapinject "
				"left in %d: %s\n",
				(int)attachment->pid, strerror(-err));
		else
			printf("Detach receipt: nothing was mapped yet; %zu descriptor%s "
			       "closed%s\n",
			       count, count == 1 ? "" : "s",
			       attachment->had_file ? ", the file of the probes removed" : "");
		return err ? HI_EXIT_FAILED : HI_EXIT_OK;
	}
	int err = detach(attachment, &receipt);
	receipt_print(&receipt, stdout);
	return err ? HI_EXIT_FAILED : HI_EXIT_OK;
}

/* The pid may be a number in another container, or that of a later process. */
static bool is_heapinject(pid_t pid)
{
	struct proc_status status;
	return pid && !proc_status_read(pid, pid, &status) &&
	       !strncmp(status.comm, "heapinject", sizeof("heapinject") - 1);
}

static void explain_busy(pid_t pid, const struct preflight *preflight)
{
	if (preflight->injector && !is_heapinject(preflight->injector))
		fprintf(stderr,
			"heapinject: %d (%s) is attached to by a heapinject in another container "
			"(there pid %d), or a process that was forked from it pretends "
			"so; "
			"end that first\n",
			(int)pid, preflight->comm, (int)preflight->injector);
	else if (preflight->injector)
		fprintf(stderr,
			"heapinject: %d (%s) is attached to by pid %d, of another user or in "
			"another container; end it there, or kill -TERM %d\n",
			(int)pid, preflight->comm, (int)preflight->injector,
			(int)preflight->injector);
	else
		fprintf(stderr, "heapinject: another heapinject is at work in %d (%s); try again\n",
			(int)pid, preflight->comm);
}

/*
 * Waits while the lock is busy. A child that a killed injector had only just started holds the lock
 * until it closes the descriptors that it does not need. On an overloaded machine that takes a
 * while.
 */
static int open_patiently(struct attachment *attachment, pid_t pid, pid_t tid)
{
	int err = -EBUSY;
	for (unsigned tries = 0; err == -EBUSY && tries < LOCK_PATIENCE; tries++) {
		if (tries)
			attachment_close(attachment);
		attachment_init(attachment, pid);
		err = attachment_open(attachment, tid);
	}
	return err;
}

static int clean_up_after(pid_t pid, const struct preflight *preflight, struct session_one *one)
{
	struct attachment attachment;

	/* what was done to the process before this one is in the receipt of that */
	held_reset();
	stop_world_reset();
	int err = open_patiently(&attachment, pid, preflight->tid ? preflight->tid : pid);
	if (!err)
		err = recover(&attachment);
	/*
	 * The lock normally rules out a live injector, but not if that sees the target through
	 * another mount of /proc, for example in a container. Of an inherited arena the heartbeat
	 * is for the parent process.
	 */
	if (!err && !attachment.is_inherited &&
	    arena_is_beating(attachment.control->arena, &attachment.memory))
		err = -EBUSY;
	/* the lock is ours: no other session begins */
	if (!err || err == -ENOENT)
		control_socket_forget(pid);
	int exit_code = HI_EXIT_FAILED;
	const bool is_clean = err == -ENOENT && !attachment.leftover_count && !attachment.had_file;
	if (is_clean && one) {
		one->has_none = true;
		exit_code = HI_EXIT_OK;
	} else if (is_clean)
		fprintf(stderr,
			"heapinject: %d (%s) has nothing of heapinject in it; nothing to detach\n",
			(int)pid, preflight->comm);
	else if (err == -EBUSY)
		explain_busy(pid, preflight);
	else if (err && err != -ENOENT)
		fprintf(stderr, "heapinject: cannot detach from %d (%s): %s%s\n", (int)pid,
			preflight->comm, strerror(-err),
			err == -EPROTO ? "; what is left in it is another version's (use that "
					 "one), or the process has written over it"
			: err == -EACCES || err == -EPERM ? "; try sudo"
							  : "");
	else {
		if (one && one->title)
			puts(one->title);
		exit_code = detach_orphan(&attachment);
	}
	attachment_close(&attachment);
	return exit_code;
}

int session_detach(pid_t pid, struct session_one *one)
{
	static struct preflight preflight;
	const struct answer_form form = {.title = one ? one->title : NULL};
	const int exit_code = session_request(pid, "detach", form, &preflight);
	if (exit_code != SESSION_NO_ANSWER)
		return exit_code;
	/*
	 * There is no session; or it died during the request; or it had died before, and only a
	 * child of it still held the socket.
	 */
	if (!preflight.pid) {
		fprintf(stderr, "heapinject: cannot detach from %d: %s; %s\n", (int)pid,
			preflight.cause, preflight.remedy);
		return HI_EXIT_REFUSED;
	}
	return clean_up_after(preflight.pid, &preflight, one);
}
