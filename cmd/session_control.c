/* SPDX-License-Identifier: MIT */
/* session_control.c - see session_control.h. Start at requests[]. */
#include "session_control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static int on_status(struct session *session, const char *argument, FILE *answer)
{
	static struct status_fields fields; /* large */

	if (*argument)
		return -EINVAL;
	const uint64_t elapsed_ns = pump_now_ns(&session->pump);
	const struct hi_stream_stats *stats = &session->stats;
	fields = (struct status_fields){
		.pid = (uint64_t)session->attachment.pid,
		.since_unix_ns = unix_ns() - elapsed_ns,
		.elapsed_ns = elapsed_ns,
		.duration_ns = session->options->duration_ns,
		.interval = session->options->interval << session->interval_shift,
		.budget_ppm = session->options->budget_ppm,
		.samples = stats->samples,
		.inuse_bytes = session->status.inuse_bytes,
		.allocated_bytes = session->status.allocated_bytes,
		.dropped = stats->dropped_allocs + stats->dropped_frees,
		.payload_cpu_ns = stats->payload_cpu_ns,
		.target_cpu_ns = stats->target_cpu_ns,
		.own_cpu_ns = sink_cpu_ns(&session->sink) - session->own_before_ns,
	};
	snprintf(fields.program, sizeof(fields.program), "%s", session->preflight.comm);
	triggers_describe(&session->options->triggers, fields.triggers);
	take_files(session, &fields);
	fputs("ok\n", answer);
	status_fields_write(&fields, answer);
	return 0;
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
	{"status", on_status},
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
