/* SPDX-License-Identifier: MIT */
/* session_control.c - see session_control.h. Start at requests[]. */
#include "session_control.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hi_units.h"
#include "session_rate.h"
#include "status_fields.h"

/* ---- status ---------------------------------------------------------------------------------- */

static uint64_t unix_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void take_files(const struct session *session, struct status_fields *fields)
{
	const struct outputs *outputs = &session->sink.outputs;

	if (session->sink.streams)
		return;
	outputs_absolute(outputs, outputs->heap_path, fields->final_file);
	if (*session->dumps.last_path)
		outputs_absolute(outputs, session->dumps.last_path, fields->last_file);
	fields->files_written = session->dumps.written;
	fields->keep = outputs->keep;
}

static void take_push(const struct push *push, struct status_fields *fields)
{
	const struct push_state *state = &push->state;

	if (!push->options || !push->options->url)
		return;
	snprintf(fields->push_url, sizeof(fields->push_url), "%s", push->options->url);
	fields->pushed = state->sent + state->partial;
	fields->push_waiting = state->waiting;
	fields->push_lost = state->refused + state->removed + state->failed + push->lost;
	fields->push_away = state->is_away || push->is_over;
}

static void take_heap(const struct heap_figures *figures, struct status_fields *fields)
{
	snprintf(fields->heap_unread, sizeof(fields->heap_unread), "%s", figures->refusal);
	if (*figures->refusal)
		return;
	snprintf(fields->heap_of, sizeof(fields->heap_of), "%s", figures->name);
	fields->heap_used = figures->used;
	fields->heap_kept = figures->free + figures->cached;
	fields->heap_trim = figures->trimmable;
}

static int on_status(struct session *session, const char *argument, FILE *answer)
{
	static struct status_fields fields; /* large */

	if (*argument)
		return -EINVAL;
	const uint64_t elapsed_ns = pump_now_ns(&session->pump);
	const struct hi_stream_stats *stats = &session->stats;
	/* figures of before a reset may still come */
	const bool is_new = session->status.resets == session->resets;
	fields = (struct status_fields){
		.pid = (uint64_t)session->attachment.pid,
		.since_unix_ns = unix_ns() - elapsed_ns,
		.elapsed_ns = elapsed_ns,
		.duration_ns = session->options->duration_ns,
		.interval = session_rate_now(session),
		.budget_ppm = session->has_chosen_rate ? 0 : session->options->budget_ppm,
		.profile_ns = elapsed_ns - session->profile_ns,
		.paused = session->is_paused,
		.paused_ns = session_rate_paused_ns(session, elapsed_ns),
		/* those that the bytes are of: the analyzer may be behind the ring */
		.samples = is_new ? session->status.samples : 0,
		.inuse_bytes = is_new ? session->status.inuse_bytes : 0,
		.allocated_bytes = is_new ? session->status.allocated_bytes : 0,
		.dropped = stats->dropped_allocs + stats->dropped_frees,
		.payload_cpu_ns = stats->payload_cpu_ns,
		.target_cpu_ns = stats->target_cpu_ns,
		.own_cpu_ns = sink_cpu_ns(&session->sink) - session->own_before_ns +
			      session->heap.total_ns,
	};
	fields.family = (uint64_t)session->options->family;
	fields.grows = is_new && session->status.verdict == HI_ANALYZER_GROWS;
	if (fields.grows && session->status.slope_low > 0) {
		fields.slope = (uint64_t)session->status.slope;
		fields.slope_low = (uint64_t)session->status.slope_low;
		fields.slope_high = (uint64_t)session->status.slope_high;
	}
	snprintf(fields.program, sizeof(fields.program), "%s", session->preflight.comm);
	triggers_describe(&session->options->triggers, fields.triggers);
	take_files(session, &fields);
	take_push(&session->push, &fields);
	take_heap(&session->heap.last, &fields);
	fputs("ok\n", answer);
	status_fields_write(&fields, answer);
	return 0;
}

/* ---- pause, resume, reset, rate -------------------------------------------------------------- */

/* Tells the client, and, on a line, the user who began the session. */
__attribute__((format(printf, 3, 4))) static int done(struct session *session, FILE *answer,
						      const char *format, ...)
{
	char text[256], line[320], elapsed[HI_UNITS_TEXT_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	snprintf(line, sizeof(line), "heapinject: %s: %s",
		 hi_format_duration(pump_now_ns(&session->pump) / SECOND_NS, elapsed,
				    sizeof(elapsed)),
		 text);
	progress_say(&session->progress, line);
	fprintf(answer, "ok\n%s\n", text);
	return 0;
}

static int refuse(FILE *answer, const char *why)
{
	fprintf(answer, "failed\n%s\n", why);
	return 0;
}

static int on_pause(struct session *session, const char *argument, FILE *answer)
{
	const int err = *argument ? -EINVAL : session_rate_pause(session, true);

	if (err == -EALREADY)
		return refuse(answer, "the session is paused already");
	return err ? err : done(session, answer, "paused: nothing is sampled until it is resumed");
}

static int on_resume(struct session *session, const char *argument, FILE *answer)
{
	const uint64_t since_ns = session->paused_at_ns;
	const int err = *argument ? -EINVAL : session_rate_pause(session, false);
	char text[HI_UNITS_TEXT_MAX];

	if (err == -EALREADY)
		return refuse(answer, "the session is not paused");
	return err ? err
		   : done(session, answer, "resumed after %s",
			  hi_format_ns((double)(pump_now_ns(&session->pump) - since_ns), text,
				       sizeof(text)));
}

static int on_reset(struct session *session, const char *argument, FILE *answer)
{
	if (*argument)
		return -EINVAL;
	return done(session, answer, "what was seen so far is forgotten; a new profile begins");
}

static int on_rate(struct session *session, const char *argument, FILE *answer)
{
	const uint64_t finest = session->options->interval;
	char text[HI_UNITS_TEXT_MAX];
	uint64_t bytes = 0;
	int err = strcmp(argument, "auto") ? hi_parse_bytes(argument, &bytes) : 0;

	if (!err)
		err = session_rate_choose(session, bytes);
	if (err == -ENOTSUP)
		return refuse(answer,
			      "the session has no budget to follow; give a number of bytes");
	if (err == -ERANGE) {
		fprintf(answer,
			"failed\nthe interval can be %s at least, and 1024G at most; attach anew "
			"with --sample for a finer one\n",
			hi_format_rate(finest, text, sizeof(text)));
		return 0;
	}
	if (err)
		return err;
	if (!bytes)
		return done(session, answer, "the interval follows the budget again");
	return done(session, answer, "the interval is %s%s",
		    hi_format_rate(session_rate_now(session), text, sizeof(text)),
		    session_rate_now(session) == bytes
			    ? ""
			    : ", the nearest that this session can have");
}

/* ---- requests -------------------------------------------------------------------------------- */

/*
 * A request is a word, or a word, a space and its argument. A function writes the whole answer and
 * returns 0; on negative errno nothing has been written.
 */
static const struct request {
	const char *word;
	int (*serve)(struct session *session, const char *argument, FILE *answer);
} requests[] = {
	{"status", on_status}, {"pause", on_pause}, {"resume", on_resume},
	{"reset", on_reset},   {"rate", on_rate},
};

void session_control_serve(struct session *session, const char *request, int client)
{
	const size_t size = strcspn(request, " ");
	const char *argument = request + size + (request[size] == ' ');
	FILE *answer = fdopen(client, "w");
	int err = -ENOSYS;

	if (!answer) {
		close(client);
		return;
	}
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		if (strlen(requests[i].word) == size && !strncmp(requests[i].word, request, size))
			err = requests[i].serve(session, argument, answer);
	if (err == -ENOSYS)
		fputs("failed\nthe session does not know this request; it is of another version "
		      "of heapinject\n",
		      answer);
	else if (err)
		fprintf(answer, "failed\n%s\n", strerror(-err));
	fclose(answer);
}
