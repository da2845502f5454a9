/* SPDX-License-Identifier: MIT */
/* session_loop.c - see session_loop.h. */
#include "session_loop.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach_entries.h"
#include "stats.h"
#include "watch.h"

#define ROUND_MS 5
#define STATS_EVERY_NS 250000000ull
/* a second of uninterrupted dlopen; after that a wrong name is better than a full ring */
#define LOADER_BUSY_ROUNDS 200

int session_send_memory(struct session *session)
{
	struct proc_status status;
	if (proc_status_read(session->attachment.pid, session->attachment.tid, &status) ||
	    !status.writable_bytes)
		return 0;
	return pump_memory(&session->pump, &status, session->attachment.control->state.size);
}

/* Writes the record first: the payload may draw with the new mean from the next instruction on. */
static void change_interval(struct session *session)
{
	const uint32_t interval_shift = session->overhead.interval_shift;
	(void)!pump_interval(&session->pump, session->options->interval << interval_shift);
	__atomic_store_n(&session->attachment.arena.shared->interval_shift, interval_shift,
			 __ATOMIC_RELAXED);
}

void session_send_stats(struct session *session)
{
	struct hi_stream_stats stats =
		stats_read(&session->attachment, &session->pump, session->cpu_before_ns);
	(void)!session_send_memory(session);
	(void)!pump_stats(&session->pump, &stats);
	(void)!pump_threads(&session->pump);
	if (overhead_step(&session->overhead, &stats))
		change_interval(session);
	if (sink_status(&session->sink, &session->status))
		session->has_status = true;
	progress_show(&session->progress, &stats, session->has_status ? &session->status : NULL,
		      session->options->duration_s * SECOND_NS);
}

/* Begins a dump. The current figures and mappings precede the DUMP record. */
static void begin_dump(struct session *session)
{
	session_send_stats(session);
	(void)!pump_maps(&session->pump, &session->attachment.maps);
	if (!dumps_begin(&session->dumps, pump_now_ns(&session->pump)))
		(void)!pump_dump(&session->pump);
}

/*
 * Whether the duration is over. A dump that is due at that time is not written, as the final
 * profile is.
 */
static bool is_time_over(const struct session *session, uint64_t now_ns)
{
	return session->options->duration_s && now_ns >= session->options->duration_s * SECOND_NS;
}

/*
 * One round: stores the heartbeat, looks for loaded objects, reads the samples. Returns 0, or a
 * reason to stop.
 */
static int work(struct session *session)
{
	session->attachment.arena.shared->heartbeat = arch_cycles();
	arena_extend_stacks(&session->attachment.arena);
	pump_mark(&session->pump);
	int err = watch_round(&session->attachment, &session->pump);
	if (attach_entries_yield(&session->attachment))
		return HI_STREAM_END_PROBE;
	if (err == -EAGAIN && ++session->busy_rounds < LOADER_BUSY_ROUNDS)
		return 0;
	session->busy_rounds = 0;
	err = pump_round(&session->pump, false);
	const uint64_t now_ns = pump_now_ns(&session->pump);
	if (now_ns - session->stats_ns >= STATS_EVERY_NS) {
		session->stats_ns = now_ns;
		session_send_stats(session);
	}
	dumps_look(&session->dumps);
	if (!is_time_over(session, now_ns) && dumps_is_due(&session->dumps, now_ns))
		begin_dump(session);
	return err ? HI_STREAM_END_ERROR : 0;
}

/*
 * Serves a request on the control socket. 1 = the request ends the session, and its client waits
 * for the answer.
 */
static int serve(struct session *session)
{
	char request[64];
	const int client = control_socket_accept(&session->socket, request, sizeof(request));
	if (client < 0)
		return 0;
	if (!strcmp(request, "detach")) {
		session->client = client;
		return 1;
	}
	if (!strcmp(request, "dump")) {
		dumps_ask(&session->dumps, client);
		return 0;
	}
	dprintf(client, "failed\nunknown request\n");
	close(client);
	return 0;
}

enum hi_stream_end_reason session_run(struct session *session)
{
	for (;;) {
		struct pollfd waits[] = {{session->signal_fd, POLLIN, 0},
					 {session->socket.fd, POLLIN, 0},
					 {session->attachment.pidfd, POLLIN, 0}};
		(void)poll(waits, 3, ROUND_MS);
		const int trouble = work(session);
		if (waits[2].revents)
			return HI_STREAM_END_EXIT;
		const int gone = session->attachment.is_unchanged
					 ? 0
					 : attachment_check(&session->attachment);
		if (gone)
			return gone == -ESRCH ? HI_STREAM_END_EXIT : HI_STREAM_END_EXEC;
		if (waits[0].revents)
			return HI_STREAM_END_SIGNAL;
		const bool is_asked = waits[1].revents && serve(session);
		/* checked first, as it matters more than a detach request */
		if (session->attachment.arena.shared->counters.deadman)
			return HI_STREAM_END_DEADMAN;
		if (is_asked)
			return HI_STREAM_END_DETACH;
		if (trouble)
			return (enum hi_stream_end_reason)trouble;
		if (is_time_over(session, pump_now_ns(&session->pump)))
			return HI_STREAM_END_DURATION;
	}
}
