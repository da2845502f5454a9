/* SPDX-License-Identifier: MIT */
/*
 * session_detach.c - `heapinject detach PID`: asks the session that is attached to end, or cleans up after one that died.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control_socket.h"
#include "detach.h"
#include "hi_exit.h"
#include "preflight.h"
#include "recover.h"
#include "session.h"

#define ANSWER_LOOK_MS 2000
#define LOCK_PATIENCE 4 /* times what attachment_open waits */
#define BEAT_LOOK_NS 100000000

/* A session that is stopped (SIGSTOP, Ctrl-Z) will not answer; its payload disarms itself meanwhile. True: there is something to read. */
static bool wait_for_answer(int connection)
{
	const pid_t session = control_socket_peer(connection);
	struct pollfd readable = {.fd = connection, .events = POLLIN};
	while (poll(&readable, 1, ANSWER_LOOK_MS) == 0) {
		struct proc_status status;
		if (session && !proc_status_read(session, session, &status) && status.state == 'T') {
			fprintf(stderr, "heapinject: the session (pid %d) is stopped and will detach once it goes on; continue it with kill -CONT %d\n",
				(int)session, (int)session);
			return false;
		}
	}
	return true;
}

#define NO_ANSWER (-1)

static int relay_answer(int connection)
{
	if (!wait_for_answer(connection)) {
		close(connection);
		return HI_EXIT_FAILED;
	}
	FILE *answer = fdopen(connection, "r");
	char line[512];
	if (!answer) {
		close(connection);
		return NO_ANSWER;
	}
	if (!fgets(line, sizeof line, answer)) {
		fclose(answer);
		return NO_ANSWER;
	}
	const int exit_code = strcmp(line, "ok\n") ? HI_EXIT_FAILED : HI_EXIT_OK;
	while (fgets(line, sizeof line, answer))
		fputs(line, stdout);
	fclose(answer);
	return exit_code;
}

static int detach_orphan(struct attachment *attachment)
{
	struct receipt receipt;
	if (!attachment->control) { /* killed before anything was mapped */
		const size_t count = attachment->leftover_count;
		int err = detach_descriptors(attachment);
		if (err)
			fprintf(stderr, "heapinject: cannot close the descriptors that a killed heapinject left in %d: %s\n", (int)attachment->pid,
				strerror(-err));
		else
			printf("Detach receipt: nothing was mapped yet; %zu descriptor%s closed\n", count, count == 1 ? "" : "s");
		return err ? HI_EXIT_FAILED : HI_EXIT_OK;
	}
	int err = detach(attachment, &receipt);
	receipt_print(&receipt, stdout);
	return err ? HI_EXIT_FAILED : HI_EXIT_OK;
}

/*
 * The lock keeps us away from a living injector, unless it sees the target through another mount of /proc: in a container, say. Its heart can be seen all the
 * same.
 */
static bool is_beating(const struct attachment *attachment)
{
	const struct timespec pause = {.tv_nsec = BEAT_LOOK_NS};
	uint64_t heartbeat;
	nanosleep(&pause, NULL);
	return !memory_read_u64(&attachment->memory, attachment->control->arena + offsetof(struct hi_control, heartbeat), &heartbeat) &&
	       heartbeat != attachment->control->heartbeat;
}

static void explain_busy(pid_t pid, const struct preflight *preflight)
{
	if (preflight->injector)
		fprintf(stderr, "heapinject: %d (%s) is attached to by pid %d of another user or runtime directory; end it there, or kill -TERM %d\n", (int)pid,
			preflight->comm, (int)preflight->injector, (int)preflight->injector);
	else
		fprintf(stderr, "heapinject: another heapinject is at work in %d (%s); try again\n", (int)pid, preflight->comm);
}

/* A child that a killed injector had only just begun holds the lock until it comes to closing what it does not need: on an overloaded machine, a while. */
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

static int clean_up_after(pid_t pid, const struct preflight *preflight)
{
	struct attachment attachment;
	int err = open_patiently(&attachment, pid, preflight->tid ? preflight->tid : pid);
	if (!err)
		err = recover(&attachment);
	if (!err && is_beating(&attachment))
		err = -EBUSY;
	int exit_code = HI_EXIT_FAILED;
	if (err == -ENOENT && !attachment.leftover_count)
		fprintf(stderr, "heapinject: %d (%s) has nothing of heapinject in it; nothing to detach\n", (int)pid, preflight->comm);
	else if (err == -EBUSY)
		explain_busy(pid, preflight);
	else if (err && err != -ENOENT)
		fprintf(stderr, "heapinject: cannot detach from %d (%s): %s%s\n", (int)pid, preflight->comm, strerror(-err),
			err == -EPROTO                    ? "; what is left in it is another version's (use that one), or the process has written over it"
			: err == -EACCES || err == -EPERM ? "; try sudo"
							  : "");
	else
		exit_code = detach_orphan(&attachment);
	attachment_close(&attachment);
	return exit_code;
}

int session_detach(pid_t pid)
{
	static struct preflight preflight;
	const int connection = control_socket_request(pid, "detach");
	const int exit_code = connection >= 0 ? relay_answer(connection) : NO_ANSWER;
	if (exit_code != NO_ANSWER)
		return exit_code;
	/* No session, or one that died over it; or had died before, and only a child of it still held the socket. */
	int err = preflight_run(pid, &preflight);
	if (err == -ESRCH || (!err && preflight.verdict == PREFLIGHT_NO_PROCESS)) {
		fprintf(stderr, "heapinject: no process %d\n", (int)pid);
		return HI_EXIT_REFUSED;
	}
	if (err) {
		fprintf(stderr, "heapinject: cannot look at process %d: %s\n", (int)pid, strerror(-err));
		return HI_EXIT_FAILED;
	}
	if (!preflight.pid) {
		fprintf(stderr, "heapinject: cannot detach from %d: %s; %s\n", (int)pid, preflight.cause, preflight.remedy);
		return HI_EXIT_REFUSED;
	}
	return clean_up_after(preflight.pid, &preflight);
}
