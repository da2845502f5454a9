/* SPDX-License-Identifier: MIT */
/* session_loop.c - see session_loop.h. */
#include "session_loop.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach_entries.h"
#include "run_signals.h"
#include "session_control.h"
#include "session_leaks.h"
#include "session_limit.h"
#include "session_memory.h"
#include "session_rate.h"
#include "session_triggers.h"
#include "stats.h"
#include "watch.h"

#define ROUND_MS 5
/* figures: at first, while the interval is far from the one that fits, then often */
#define SETTLING_NS 1000000000ull
#define SETTLING_EVERY_NS 50000000ull
#define STATS_EVERY_NS 250000000ull
/* while fewer records come in than this, nothing has to be adapted, and figures change slowly */
#define QUIET_RECORDS 64
#define QUIET_EVERY_NS 1000000000ull
/* how long the answer must have been the same, and how long a session takes at least */
#define SURE_NS 5000000000ull
#define SURE_FIRST_NS 15000000000ull
/* what counting a free takes, and what all of them may, of the budget */
#define FREE_NS 100
#define FREES_SHARE 0.15
#define FREES_EVERY_S 1.0
/* a second of uninterrupted dlopen; after that a wrong name is better than a full ring */
#define LOADER_BUSY_ROUNDS 200

static void keep_budget(struct session *session, const struct hi_stream_stats *stats)
{
	struct hi_control *shared = session->attachment.arena.shared;
	const uint64_t own_ns = sink_cpu_ns(&session->sink) - session->own_before_ns;
	/* looks at the heap have a bound of their own */
	session->own_ns = own_ns + session->heap.total_ns;
	const struct overhead_figures now = {
		.time_ns = stats->time_ns,
		.target_ns = stats->target_cpu_ns,
		.payload_ns = stats->payload_cpu_ns,
		.own_ns = own_ns,
		.samples = stats->samples,
		.live = stats->samples > stats->frees ? stats->samples - stats->frees : 0,
	};
	if (session_rate_hold(session, &now))
		return;
	const uint32_t before = __atomic_load_n(&shared->interval_shift, __ATOMIC_RELAXED);
	uint32_t interval_shift = before;
	/* the payload may have changed it, too */
	if (overhead_step(&session->overhead, &now, &shared->thinning, &interval_shift) &&
	    (interval_shift != before || interval_shift != session->interval_shift))
		session_rate_change(session, before, interval_shift);
}

/*
 * Writes the frees of unsampled blocks. If counting them takes more than its part of the budget,
 * half as many are counted from now on.
 */
static void count_frees(struct session *session, uint64_t now_ns)
{
	struct hi_unsampled_frees *counted = &session->attachment.arena.shared->unsampled_frees;
	const double seconds = (double)(now_ns - session->frees_ns) / SECOND_NS;
	const uint64_t homes = 1ull << session->attachment.control->occupancy_bits;
	__atomic_store_n(&counted->recent, 0, __ATOMIC_RELAXED);
	if (!session->options->budget_ppm || seconds < FREES_EVERY_S)
		return;
	session->frees_ns = now_ns;
	const double taken = (double)unsampled_frees_take(&session->frees, counted, homes);
	(void)!pump_unsampled_frees(&session->pump, &session->frees);
	if (taken * FREE_NS > FREES_SHARE * seconds * overhead_budget(&session->overhead))
		__atomic_store_n(&counted->sentinels, counted->sentinels / 2, __ATOMIC_RELAXED);
}

/* Says what is new of the profiles that are pushed. */
static void look_at_push(struct session *session)
{
	char line[PUSH_LINE_MAX];
	while (push_look(&session->push, line))
		progress_say(&session->progress, line);
}

/* For who has begun the session. */
static void note_outcome(const struct session *session)
{
	struct session_outcome *outcome = session->options->outcome;
	const struct hi_stream_stats *stats = &session->stats;

	outcome->samples = stats->samples;
	outcome->dropped = stats->dropped_allocs + stats->dropped_frees + stats->live_set_full;
	if (!session->has_status)
		return;
	outcome->live_bytes = session->status.live_bytes;
	outcome->slope = session->status.slope;
	outcome->is_growing = session->status.verdict == HI_ANALYZER_GROWS;
}

void session_send_stats(struct session *session)
{
	const struct proc_status status = session_read_memory(session);
	struct hi_stream_stats stats =
		stats_read(&session->attachment, &session->pump, &status, session->cpu_before_ns);
	session->stats = stats;
	session->stats_ns = stats.time_ns;
	(void)!session_send_memory(session, &status);
	(void)!pump_stats(&session->pump, &stats);
	(void)!pump_threads(&session->pump);
	keep_budget(session, &stats);
	count_frees(session, stats.time_ns);
	look_at_push(session);
	if (sink_status(&session->sink, &session->status))
		session->has_status = true;
	if (session->options->outcome)
		note_outcome(session);
	progress_show(&session->progress, &stats, session->has_status ? &session->status : NULL,
		      session->options->duration_ns);
}

void session_send_counts(struct session *session)
{
	stats_count(&session->attachment, &session->pump, &session->stats);
	(void)!pump_stats(&session->pump, &session->stats);
}

/* The share of a CPU that looks at the heap may take. */
static double look_share(const struct session *session)
{
	const double budget = session->options->budget_ppm / 1e6;
	return budget > 0 && budget < HEAP_LOOKS_SHARE ? budget : HEAP_LOOKS_SHARE;
}

static void look_at_heap(struct session *session, uint64_t now_ns)
{
	if (heap_looks_step(&session->heap, now_ns, look_share(session)))
		(void)!pump_heap(&session->pump, &session->heap.last, session->heap.last_ns);
}

/* Begins a dump. The current figures and mappings precede the DUMP record. */
static void begin_dump(struct session *session)
{
	struct maps maps;
	session_limit_dump(session);
	session_send_stats(session);
	if (!maps_read(session->attachment.pid, session->attachment.tid, &maps)) {
		(void)!pump_maps(&session->pump, &maps);
		maps_close(&maps);
	}
	if (!dumps_begin(&session->dumps, pump_now_ns(&session->pump)))
		(void)!(pump_thinned(&session->pump, &session->overhead.thinned) ||
			pump_dump(&session->pump, session->dumps.trigger));
	if (!session->dumps.is_shown)
		triggers_dumped(&session->triggers);
}

/*
 * Whether the duration is over. A dump that is due at that time is not written, as the final
 * profile is.
 */
static bool is_time_over(const struct session *session, uint64_t now_ns)
{
	return session->options->duration_ns && now_ns >= session->options->duration_ns;
}

/*
 * For --until-sure: whether the analyzer has said for a while that something grows. It allows for
 * looking many times.
 */
static bool is_sure(struct session *session, uint64_t now_ns)
{
	if (!session->has_status || session->status.verdict != HI_ANALYZER_GROWS)
		session->sure_ns = 0;
	else if (!session->sure_ns)
		session->sure_ns = now_ns;
	return session->sure_ns && now_ns - session->sure_ns >= SURE_NS && now_ns >= SURE_FIRST_NS;
}

/* Whether enough has happened, or enough time has passed, for new figures. */
static bool are_stats_due(const struct session *session, uint64_t now_ns)
{
	const uint64_t since_ns = now_ns - session->stats_ns;
	const struct ring_reader *reader = &session->pump.reader;
	const uint64_t records =
		reader->allocs + reader->frees - session->stats.samples - session->stats.frees;
	if (now_ns < SETTLING_NS)
		return since_ns >= SETTLING_EVERY_NS;
	const bool is_quiet = records < QUIET_RECORDS && !triggers_need_figures(&session->triggers);
	return since_ns >= (is_quiet ? QUIET_EVERY_NS : STATS_EVERY_NS);
}

/* Says which allocators have come since, with libraries. */
static void warn_of_late(struct session *session)
{
	const struct unhooked_list *all = &session->attachment.unhooked;
	struct unhooked_list late = {0};
	char text[UNHOOKED_TEXT_MAX], line[UNHOOKED_TEXT_MAX + 128];
	for (size_t i = session->preflight.unhooked.count; i < all->count; i++)
		late.unhooked[late.count++] = all->unhooked[i];
	if (!late.count)
		return;
	session->preflight.unhooked = *all;
	snprintf(line, sizeof(line),
		 "heapinject: a library has come whose allocations go to %s, which is not hooked: "
		 "they will not be seen",
		 unhooked_describe(&late, false, text, sizeof(text)));
	progress_say(&session->progress, line);
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
	warn_of_late(session);
	if (attach_entries_yield(&session->attachment))
		return HI_STREAM_END_PROBE;
	if (err == -EAGAIN && ++session->busy_rounds < LOADER_BUSY_ROUNDS)
		return 0;
	session->busy_rounds = 0;
	err = pump_round(&session->pump, false);
	const uint64_t now_ns = pump_now_ns(&session->pump);
	if (are_stats_due(session, now_ns))
		session_send_stats(session);
	look_at_heap(session, now_ns);
	dumps_look(&session->dumps);
	if (session->options->until_sure && is_sure(session, now_ns))
		return HI_STREAM_END_DURATION;
	session_triggers_look(session);
	session_limit_look(session);
	if (!is_time_over(session, now_ns) && dumps_is_due(&session->dumps, now_ns))
		begin_dump(session);
	return err ? HI_STREAM_END_ERROR : 0;
}

/*
 * Forgets what was seen so far, at the end of all records that have come. The figures before it are
 * those that totals count from; what describes the memory of the process comes anew.
 */
static void begin_anew(struct session *session)
{
	struct maps maps;
	(void)!pump_round(&session->pump, false);
	session_send_stats(session);
	(void)!pump_reset(&session->pump);
	memset(&session->overhead.thinned, 0, sizeof(session->overhead.thinned));
	const struct proc_status status = session_read_memory(session);
	(void)!session_send_memory(session, &status);
	if (!maps_read(session->attachment.pid, session->attachment.tid, &maps)) {
		(void)!pump_maps(&session->pump, &maps);
		maps_close(&maps);
	}
	session_send_stats(session);
	triggers_reset(&session->triggers);
	heap_looks_begin_anew(&session->heap);
	session->resets++;
	session->profile_ns = session->paused_at_ns = pump_now_ns(&session->pump);
	session->paused_ns = 0;
	session->status = (struct hi_analyzer_status){0};
	session->has_status = false;
	session->sure_ns = 0;
}

/*
 * Serves a request on the control socket, if there is one. 1 = the request ends the session, and
 * its client waits for the answer.
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
	if (!strcmp(request, "profile") || !strcmp(request, "blocks")) {
		dumps_show(&session->dumps, *request == 'p' ? DUMPS_PROFILE : DUMPS_STACKED,
			   client);
		return 0;
	}
	if (!strcmp(request, "reset"))
		begin_anew(session);
	session_control_serve(session, request, client);
	return 0;
}

/*
 * Whether the process that shows how it goes was killed. The signal that is to come then
 * (PR_SET_PDEATHSIG) may not: the kernel forgets it whenever a process changes its user, be it for
 * opening a file.
 */
static bool is_left_alone(const struct session *session)
{
	return session->options->family && getppid() != session->options->family;
}

enum hi_stream_end_reason session_run(struct session *session)
{
	for (;;) {
		struct pollfd waits[3 + SESSION_LIMIT_WAITS] = {
			{session->signal_fd, POLLIN, 0},
			{session->socket.fd, POLLIN, 0},
			{session->attachment.pidfd, POLLIN, 0}};
		const size_t others = session_limit_waits(session, waits + 3);
		(void)poll(waits, 3 + others, ROUND_MS);
		session_limit_woken(session, waits + 3, others);
		const int trouble = work(session);
		if (session_leaks_are_due(session)) {
			session_send_stats(session);
			session_leaks_find(session);
		}
		if (waits[2].revents)
			return HI_STREAM_END_EXIT;
		const int gone = session->attachment.is_unchanged
					 ? 0
					 : attachment_check(&session->attachment);
		if (gone)
			return gone == -ESRCH ? HI_STREAM_END_EXIT : HI_STREAM_END_EXEC;
		if (session->options->run)
			run_signals_serve(session);
		else if (waits[0].revents)
			return HI_STREAM_END_SIGNAL;
		if (is_left_alone(session))
			return HI_STREAM_END_SIGNAL;
		const bool is_asked =
			(waits[1].revents || session->socket.clients.count) && serve(session);
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
