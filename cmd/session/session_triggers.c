/* SPDX-License-Identifier: MIT */
/* session_triggers.c - see session_triggers.h. */
#include "session_triggers.h"

#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "hi_units.h"

void session_triggers_begin(struct session *session)
{
	const struct trigger_options *options = &session->options->triggers;
	char text[TRIGGERS_TEXT_MAX], bytes[HI_UNITS_TEXT_MAX];
	uint64_t limit = 0;

	if (options->rss_ppm)
		limit = memory_limit_resident(session->attachment.pid, session->attachment.tid);
	triggers_open(&session->triggers, options, limit);
	if (options->rss_ppm && !limit)
		fprintf(stderr,
			"heapinject: the memory limit of the process is not known; --at-rss "
			"will write nothing\n");
	if (!session->options->verbose || !*triggers_describe(options, text))
		return;
	fprintf(stderr, "heapinject: writes a profile by %s", text);
	if (limit)
		fprintf(stderr, ", which is %s",
			hi_format_bytes((double)session->triggers.rss_limit, bytes, sizeof(bytes)));
	fputc('\n', stderr);
}

/* Signals that came several times count once. */
static bool has_signal(int fd)
{
	struct signalfd_siginfo seen;
	bool has_any = false;

	while (fd >= 0 && read(fd, &seen, sizeof(seen)) == (ssize_t)sizeof(seen))
		has_any = true;
	return has_any;
}

void session_triggers_look(struct session *session)
{
	const bool needs_figures = triggers_need_figures(&session->triggers);

	if (!needs_figures && session->trigger_fd < 0)
		return;
	if (needs_figures && sink_status(&session->sink, &session->status))
		session->has_status = true;
	const struct trigger_figures figures = {
		.now_ns = pump_now_ns(&session->pump),
		.allocated_bytes = session->status.allocated_bytes,
		.inuse_bytes = session->status.inuse_bytes,
		/* figures of before a reset may still come */
		.has_blocks = session->has_status && session->status.resets == session->resets,
		.resident_bytes = session->stats.resident_bytes,
		.has_signal = has_signal(session->trigger_fd),
	};
	dumps_want(&session->dumps, triggers_look(&session->triggers, &figures));
}
