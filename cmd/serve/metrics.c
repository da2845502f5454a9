/* SPDX-License-Identifier: MIT */
/* metrics.c - see metrics.h. A new metric is one line in the table. */
#include "metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session_list.h"

#define NS_PER_SECOND 1e9

enum unit { PLAIN, SECONDS };

/* Counters begin anew when a session is reset, as Prometheus expects of a process that restarts. */
static const struct metric {
	const char *name, *type, *help;
	size_t offset;
	enum unit unit;
} metrics[] = {
#define FIELD(name) offsetof(struct status_fields, name)
	{"heapinject_inuse_bytes", "gauge",
	 "Bytes that were allocated during the session and are in use, estimated.",
	 FIELD(inuse_bytes), PLAIN},
	{"heapinject_allocated_bytes_total", "counter",
	 "Bytes that were allocated during the session, estimated.", FIELD(allocated_bytes), PLAIN},
	{"heapinject_samples_total", "counter", "Allocations that were sampled.", FIELD(samples),
	 PLAIN},
	{"heapinject_dropped_samples_total", "counter",
	 "Records of allocations and frees that were lost.", FIELD(dropped), PLAIN},
	{"heapinject_sampling_interval_bytes", "gauge",
	 "Mean bytes between samples now; 1 is every allocation.", FIELD(interval), PLAIN},
	{"heapinject_growing", "gauge", "1 if it is certain that something grows.", FIELD(grows),
	 PLAIN},
	{"heapinject_growth_bytes_per_second", "gauge",
	 "How fast what grows for certain grows in all.", FIELD(slope), PLAIN},
	{"heapinject_growth_low_bytes_per_second", "gauge", "The lower end of its 95 % interval.",
	 FIELD(slope_low), PLAIN},
	{"heapinject_growth_high_bytes_per_second", "gauge", "The upper end of its 95 % interval.",
	 FIELD(slope_high), PLAIN},
	{"heapinject_paused", "gauge", "1 if nothing is sampled now.", FIELD(paused), PLAIN},
	{"heapinject_session_seconds", "gauge", "How long the session has been attached.",
	 FIELD(elapsed_ns), SECONDS},
	{"heapinject_payload_cpu_seconds_total", "counter",
	 "CPU time of the process that sampling has cost it.", FIELD(payload_cpu_ns), SECONDS},
	{"heapinject_process_cpu_seconds_total", "counter",
	 "CPU time of the process during the session.", FIELD(target_cpu_ns), SECONDS},
	{"heapinject_injector_cpu_seconds_total", "counter",
	 "CPU time of the session beside the process.", FIELD(own_cpu_ns), SECONDS},
	{"heapinject_profiles_written_total", "counter", "Profiles that the session has written.",
	 FIELD(files_written), PLAIN},
#undef FIELD
};

struct sessions {
	struct status_fields *fields;
	size_t count;
	int err;
};

static void add(void *context, const struct status_fields *fields)
{
	struct sessions *sessions = context;
	struct status_fields *more =
		reallocarray(sessions->fields, sessions->count + 1, sizeof(*more));

	if (!more) {
		sessions->err = -ENOMEM;
		return;
	}
	sessions->fields = more;
	more[sessions->count++] = *fields;
}

static void put_label(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '\n') {
			fputs("\\n", out);
			continue;
		}
		if (*text == '\\' || *text == '"')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void put_sample(const struct metric *metric, const struct status_fields *fields, FILE *out)
{
	uint64_t value;

	memcpy(&value, (const char *)fields + metric->offset, sizeof(value));
	fprintf(out, "%s{pid=\"%" PRIu64 "\",program=\"", metric->name, fields->pid);
	put_label(fields->program, out);
	if (metric->unit == SECONDS)
		fprintf(out, "\"} %.9f\n", (double)value / NS_PER_SECOND);
	else
		fprintf(out, "\"} %" PRIu64 "\n", value);
}

void serve_metrics_print(const struct status_fields *fields, size_t count, FILE *out)
{
	fprintf(out,
		"# HELP heapinject_sessions Sessions that are served.\n"
		"# TYPE heapinject_sessions gauge\nheapinject_sessions %zu\n",
		count);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
		const struct metric *metric = &metrics[i];

		fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help,
			metric->name, metric->type);
		for (size_t k = 0; k < count; k++)
			put_sample(metric, &fields[k], out);
	}
}

int serve_metrics_write(const struct serve_options *options, FILE *out)
{
	struct sessions sessions = {0};

	if (!options->pid_count)
		session_list(add, &sessions);
	/* one that has ended is missing */
	for (size_t i = 0; i < options->pid_count; i++)
		(void)!session_list_one(options->pid[i], add, &sessions);
	if (!sessions.err)
		serve_metrics_print(sessions.fields, sessions.count, out);
	free(sessions.fields);
	return sessions.err;
}
