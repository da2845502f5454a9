/* SPDX-License-Identifier: MIT */
/* session_end.c - see session_end.h. */
#include "session_end.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "detach.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "plain_text.h"
#include "run_child.h"
#include "run_signals.h"
#include "session_leaks.h"
#include "session_limit.h"
#include "session_loop.h"
#include "session_signals.h"

#define READER_DEADLINE_MS 30000

static const char *explain_end(enum hi_stream_end_reason reason)
{
	switch (reason) {
	case HI_STREAM_END_EXIT:
		return "the process exited";
	case HI_STREAM_END_EXEC:
		return "the process replaced its program";
	case HI_STREAM_END_DEADMAN:
		return "heapinject was silent for too long (stopped?), so that the payload "
		       "disarmed itself";
	case HI_STREAM_END_PROBE:
		return "somebody put a probe (uprobe, perf, bpftrace) at a function of the "
		       "allocator, whose calls cannot be seen any more";
	case HI_STREAM_END_ERROR:
		return "the sample stream broke";
	case HI_STREAM_END_DETACH:
		return "asked to by heapinject detach";
	default:
		return NULL;
	}
}

/* The process has ended, or is another program. */
static bool is_gone(enum hi_stream_end_reason reason)
{
	return reason == HI_STREAM_END_EXIT || reason == HI_STREAM_END_EXEC;
}

static int send_thinned(struct session *session)
{
	struct hi_control *shared = session->attachment.arena.shared;

	overhead_end(&session->overhead, &shared->thinning,
		     __atomic_load_n(&shared->interval_shift, __ATOMIC_RELAXED));
	return pump_thinned(&session->pump, &session->overhead.thinned);
}

/* Writes everything that was sampled, then the mappings at the end, then the end record. */
static int drain(struct session *session, enum hi_stream_end_reason reason,
		 const struct receipt *receipt)
{
	struct maps maps;
	int err = pump_drain(&session->pump, READER_DEADLINE_MS);
	if (is_gone(reason))
		session_send_counts(session);
	if (!receipt->target_gone &&
	    !maps_read(session->attachment.pid, session->attachment.tid, &maps)) {
		(void)!pump_maps(&session->pump, &maps);
		maps_close(&maps);
	}
	/* the window does not become longer by the wait */
	pump_stop_clock(&session->pump);
	if (heap_looks_wait(&session->heap)) {
		session->own_ns += session->heap.last.cost_ns;
		(void)!pump_heap(&session->pump, &session->heap.last, session->heap.last_ns);
	}
	(void)!pump_named(&session->pump, &session->options->named,
			  session->attachment.arena.shared);
	const int thinned = send_thinned(session);
	int ended = pump_end(&session->pump, reason);
	int drained = stream_out_drain(&session->sink.out, READER_DEADLINE_MS);
	return err ? err : thinned ? thinned : ended ? ended : drained;
}

/* The answer of the analyzer, completed by what it does not know: names of files. */
static void print_json(const struct session *session)
{
	const struct sink *sink = &session->sink;

	if (sink->answer && *sink->answer)
		fputs(sink->answer, stdout);
	else
		fputs("{\"verdict\":\"cannot tell\",\"rows\":[]", stdout);
	if (sink->is_written) {
		char next[sizeof(sink->outputs.heap_path) + sizeof("heapinject report  --leaks")];
		snprintf(next, sizeof(next), "heapinject report %s --leaks",
			 sink->outputs.heap_path);
		fputs(",\"files\":[", stdout);
		plain_text_json(stdout, sink->outputs.heap_path);
		fputc(',', stdout);
		plain_text_json(stdout, sink->outputs.pprof_path);
		fputs("],\"next\":", stdout);
		plain_text_json(stdout, next);
	}
	session_limit_json(session, stdout);
	session_leaks_json(session, stdout);
	fputs("}\n", stdout);
	fflush(stdout);
}

/* For --fail-if-grows: the exit code by the verdict, with which the answer begins. */
static int exit_code_of(const char *answer)
{
	static const char before[] = "{\"verdict\":\"";
	static const char *const growth[] = {"grows\"", "probably grows\""};
	static const char unknown[] = "cannot tell";
	if (!answer || strncmp(answer, before, strlen(before)) != 0)
		return HI_EXIT_UNSURE;
	answer += strlen(before);
	for (size_t i = 0; i < sizeof(growth) / sizeof(*growth); i++)
		if (!strncmp(answer, growth[i], strlen(growth[i])))
			return HI_EXIT_ABOVE;
	return strncmp(answer, unknown, strlen(unknown)) ? HI_EXIT_OK : HI_EXIT_UNSURE;
}

/* What the looks at the heap are of that, and how often there was one. */
static void print_looks(const struct session *session, double window_ns, FILE *out)
{
	const struct heap_looks *looks = &session->heap;
	char every[HI_UNITS_TEXT_MAX];

	if (!looks->count)
		return;
	fprintf(out, ", %.2f%% for %u %s at the heap", 100 * (double)looks->total_ns / window_ns,
		looks->count, looks->count == 1 ? "look" : "looks");
	if (looks->every_ns)
		fprintf(out, ", one every %s",
			hi_format_ns((double)looks->every_ns, every, sizeof(every)));
	if (session->options->verbose && *looks->last.refusal)
		fprintf(out, " (what it has is not known: %s)", looks->last.refusal);
}

/* What profiling has cost while the process was attached to. The files come after that. */
static void print_overhead(const struct session *session, FILE *out)
{
	const struct hi_stream_stats *stats = &session->stats;
	const double window_ns = (double)stats->time_ns, payload_ns = (double)stats->payload_cpu_ns,
		     own_ns = (double)session->own_ns;
	if (window_ns <= 0)
		return;
	const double share = (double)session->options->budget_ppm / 1e6;
	fprintf(out, "Overhead: %.2f%% of a CPU in the process", 100 * payload_ns / window_ns);
	if (stats->target_cpu_ns)
		fprintf(out, ", %.2f%% of its CPU time",
			100 * payload_ns / (double)stats->target_cpu_ns);
	if (share > 0)
		fprintf(out, " (allowed: %.2f%% of a CPU, or %g%% of its CPU time if that is more)",
			100 * share * OVERHEAD_CORE_SHARE, 100 * share);
	fprintf(out, "; %.2f%% of a CPU beside it", 100 * own_ns / window_ns);
	print_looks(session, window_ns, out);
	fputc('\n', out);
}

/* Functions that were named with the number of an argument that is no size, most likely. */
static void print_senseless(const struct session *session, FILE *out)
{
	const struct named_functions *named = &session->options->named;
	const struct hi_control *shared = session->attachment.arena.shared;

	for (size_t i = 0; i < named->alloc_count && shared; i++) {
		const uint64_t calls = shared->named[i].calls,
			       senseless = shared->named[i].senseless;

		if (senseless)
			fprintf(out,
				"Warning: argument %u of %s held no size in %llu of %llu calls, or "
				"what it gave was no block%s; %s\n",
				named->alloc[i].size, named->alloc[i].name,
				(unsigned long long)senseless, (unsigned long long)calls,
				named->alloc[i].block == NAMED_BLOCK_STORED
					? ", or not stored on its caller's stack, where alone it "
					  "is looked for"
					: "",
				senseless > calls / 2 ? "so it has no figures"
						      : "those are not counted");
	}
}

/* Of a block that was no sample it is not known which pool it lies in. */
static void print_pools_in_pools(const struct session_options *options, FILE *out)
{
	bool has_pool = false;

	for (size_t i = 0; i < options->named.alloc_count; i++)
		has_pool |= options->named.alloc[i].pool != 0;
	if (has_pool && options->interval > HI_INTERVAL_EXACT)
		fputs("Note: where blocks are pools themselves, what lies in one may count as in "
		      "use after another pool took it along; with --sample 1 it does not\n",
		      out);
}

static int report(struct session *session, enum hi_stream_end_reason reason,
		  const struct receipt *receipt)
{
	const struct session_options *options = session->options;
	FILE *out = session->sink.streams || options->json || options->run ? stderr : stdout;
	const uint64_t unix_ns = push_now_unix_ns();
	const int exit_code = sink_finish(&session->sink, out);
	if (session->sink.is_written && session->options->push.url)
		push_hand_over(&session->push, outputs_read_final(&session->sink.outputs), unix_ns);
	if (options->stream_path)
		fprintf(out, "Wrote %s\n", options->stream_path);
	print_overhead(session, out);
	receipt_print(receipt, out);
	if ((fflush(out) || ferror(out)) && out != stderr)
		receipt_print(receipt, stderr);
	dumps_close(&session->dumps);
	session_limit_report(session, out);
	if (session->sink.is_written)
		fprintf(out, "Look at it with: heapinject report %s --leaks, or --text\n",
			session->sink.outputs.heap_path);
	if (session->sink.is_written && session->sees_mappings)
		fprintf(out, "At what was mapped with: heapinject report %s --mmap --text\n",
			session->sink.outputs.pprof_path);
	print_senseless(session, out);
	print_pools_in_pools(options, out);
	if (session->sink.is_written && session_names_functions(options))
		fprintf(out, "At what pools gave with: heapinject report %s --pools --text\n",
			session->sink.outputs.pprof_path);
	if (session->sink.is_written && session->dumps.first_path[0])
		fprintf(out,
			"What has changed since the first of %u before it: heapinject diff %s %s "
			"--text\n",
			session->dumps.written, session->dumps.first_path,
			session->sink.outputs.heap_path);
	fflush(out);
	session_leaks_report(session, out);
	if (session->sink.is_written && options->run && reason == HI_STREAM_END_EXIT &&
	    !options->finds_leaks && !options->family)
		run_child_show_kept(session->sink.outputs.heap_path);
	if (options->json)
		print_json(session);
	return exit_code;
}

static void answer_client(const struct session *session, const struct receipt *receipt,
			  int exit_code)
{
	if (session->client < 0)
		return;
	FILE *answer = fdopen(session->client, "w");
	if (!answer)
		return;
	fprintf(answer, "%s\n", exit_code == HI_EXIT_OK ? "ok" : "failed");
	if (session->sink.is_written)
		fprintf(answer, "Files: %s and %s\n", session->sink.outputs.heap_path,
			session->sink.outputs.pprof_path);
	receipt_print(receipt, answer);
	fclose(answer);
}

static void note_outcome(const struct session *session, enum hi_stream_end_reason reason,
			 int exit_code)
{
	struct session_outcome *outcome = session->options->outcome;

	outcome->is_over = exit_code != HI_EXIT_FAILED;
	outcome->may_come = is_gone(reason);
	if (!session->sink.is_written)
		return;
	memcpy(outcome->heap_path, session->sink.outputs.heap_path, sizeof(outcome->heap_path));
	memcpy(outcome->pprof_path, session->sink.outputs.pprof_path, sizeof(outcome->pprof_path));
}

int session_end(struct session *session, enum hi_stream_end_reason reason)
{
	struct receipt receipt;
	if (session->options->outcome)
		session->options->outcome->is_ending = true;
	session_leaks_end(session, reason);
	if (is_gone(reason)) {
		heap_looks_close(&session->heap);
	} else {
		session_send_stats(session);
		heap_looks_begin_last(&session->heap, pump_now_ns(&session->pump));
	}
	/* detach reads the objects anew */
	(void)!pump_settle_modules(&session->pump);
	/*
	 * Detach comes before anything that might block, for example a write to a terminal that is
	 * stopped.
	 */
	const int detached = detach(&session->attachment, &receipt);
	const bool is_natural = session->options->run && reason == HI_STREAM_END_EXIT;
	if (session->options->run && !is_natural)
		run_signals_pass_on(session->signal_fd, session->options->run->pid);
	else
		session_signals_let_kill(session->signal_fd);
	progress_close(&session->progress);
	dumps_look(&session->dumps);
	const char *why = session_limit_explain(session, reason);
	if (!why && session->options->run && reason == HI_STREAM_END_EXEC)
		why = run_child_explain_exec(session->options->run);
	if (!why)
		why = explain_end(reason);
	if (why && !session->options->quiet && !is_natural)
		fprintf(stderr, "heapinject: ending: %s\n", why);
	const int drained = drain(session, reason, &receipt);
	if (drained)
		fprintf(stderr, "heapinject: the record stream is incomplete: %s\n",
			drained == -EPROTO ? "the process has written over the buffer through "
					     "which samples come"
					   : strerror(-drained));
	if (!detached)
		arena_free_rings(&session->attachment.arena);
	int exit_code = report(session, reason, &receipt);
	if (detached || drained || reason == HI_STREAM_END_ERROR)
		exit_code = HI_EXIT_FAILED;
	if (exit_code == HI_EXIT_OK && session->options->fail_if_grows)
		exit_code = exit_code_of(session->sink.answer);
	answer_client(session, &receipt, exit_code);
	if (exit_code == HI_EXIT_OK)
		exit_code = session_leaks_exit_code(session);
	if (session->options->outcome)
		note_outcome(session, reason, exit_code);
	return exit_code;
}
