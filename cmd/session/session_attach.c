/* SPDX-License-Identifier: MIT */
/*
 * session_attach.c - one run of `heapinject attach`: preflight, files, analyzer, attach
 * (session_begin.c), the loop that pumps and watches (session_loop.c), and the end (session_end.c).
 *
 * Every reason to stop, from the duration to the target's exit, leaves the loop in the same way:
 * detach, drain, end record, files, receipt. Nothing between attach and detach may return early.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "held_memory.h"
#include "hi_exit.h"
#include "run_child.h"
#include "session_begin.h"
#include "session_end.h"
#include "session_leaks.h"
#include "session_limit.h"
#include "session_loop.h"
#include "session_signals.h"
#include "session_state.h"
#include "session_triggers.h"

#define DESCRIPTORS_MAX 65536
#define HELD_BYTES (8u << 20)

/*
 * Each object's file is open twice or more during a session, and there may be hundreds of objects.
 */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS_MAX ? limit.rlim_max : DESCRIPTORS_MAX;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static enum hi_stream_end_reason run(struct session *session)
{
	/* if nobody knows that the session is there, it must not stay */
	return session_detached_tell(&session->detached) ? session_run(session)
							 : HI_STREAM_END_SIGNAL;
}

/* For who has begun the session. */
static void note_beginning(const struct session *session)
{
	struct session_outcome *outcome = session->options->outcome;
	const off_t size = lseek(STDERR_FILENO, 0, SEEK_CUR);
	struct stat file;

	if (!fstat(session->attachment.arena.memfd, &file))
		outcome->memory_file = file.st_ino;
	outcome->begun_size = size > 0 ? (uint64_t)size : 0;
	outcome->is_attached = true;
}

static int run_attached(struct session *session)
{
	int exit_code = session_begin(session);
	if (exit_code == HI_EXIT_OK || session->attachment.control) {
		progress_open(&session->progress, session->options->quiet || session->options->run);
		dumps_open(&session->dumps, &session->sink, &session->progress,
			   session->options->triggers.every_ns);
		session->dumps.push = session->options->push.url ? &session->push : NULL;
		session_triggers_begin(session);
		session_limit_begin(session);
		session->progress.interval = session->options->interval;
		if (exit_code == HI_EXIT_OK)
			exit_code = session_leaks_check(session);
		if (exit_code == HI_EXIT_OK && session->options->run &&
		    run_child_let_go(session->options->run, &session->attachment,
				     session->options->finds_leaks))
			exit_code = HI_EXIT_FAILED;
		session->progress.is_log = session->detached.is_on || session->options->family ||
					   session_limit_is_log(session);
		if (exit_code == HI_EXIT_OK && session->options->outcome)
			note_beginning(session);
		exit_code = session_end(session, exit_code == HI_EXIT_OK ? run(session)
									 : HI_STREAM_END_ERROR);
		pump_close(&session->pump);
		session_limit_close(session);
	}
	/*
	 * while this process still holds the target: later the socket might be that of the next
	 * session
	 */
	control_socket_close(&session->socket);
	attachment_close(&session->attachment);
	return exit_code;
}

/* Before the target is opened, so that the process which pushes inherits no access to it. */
static int start_push(struct session *session)
{
	const struct push_options *options = &session->options->push;
	char host[256] = "";
	(void)!gethostname(host, sizeof(host) - 1);
	const struct push_origin origin = {.service = session->preflight.comm,
					   .host = host,
					   .pid = session->preflight.pid,
					   .prefix = session->options->prefix};
	const int exit_code = push_start(&session->push, options, &origin);
	session->sink.outputs.is_pushed = options->url != NULL;
	if (session->options->verbose)
		push_describe(&session->push);
	return exit_code;
}

int session_attach(const struct session_options *options)
{
	/* static, as it is large; there is one session per process */
	static struct session session;
	session = (struct session){
		.options = options, .client = -1, .socket = {.fd = -1}, .trigger_fd = -1};
	int exit_code;
	if (options->detached &&
	    session_detached_fork(&session.detached, options->quiet, &exit_code))
		return exit_code;
	if (options->holds_memory && held_memory_take(HELD_BYTES) && options->verbose)
		fprintf(stderr, "heapinject: its memory is allocated, but cannot be locked\n");
	session_signals_end_early();
	arch_cycles_calibrate();
	raise_descriptor_limit();
	exit_code = session_check_target(&session);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	/* before the files are created, so that a signal cannot leave them behind */
	session.signal_fd = session_signals_take(options->run != NULL);
	if (options->triggers.signal)
		session.trigger_fd = session_signals_take_trigger(options->triggers.signal);
	const struct sink_options into = {
		.prefix = options->prefix,
		.stream_path = options->stream_path,
		.names_live =
			(options->verbose || options->triggers.limit.count) && !options->quiet,
		.holds_memory = options->holds_memory,
		.syncs = options->triggers.limit.count != 0,
		.suppressions = options->suppressions,
	};
	exit_code = sink_open(&session.sink, &into, &session.preflight);
	if (exit_code != HI_EXIT_OK) {
		attachment_close(&session.attachment);
		return exit_code;
	}
	session.sink.outputs.keep = options->keep;
	exit_code = start_push(&session);
	if (exit_code != HI_EXIT_OK) {
		attachment_close(&session.attachment);
		sink_close(&session.sink);
		return exit_code;
	}
	const int err = session_detached_log(&session.detached, &session.sink.outputs);
	if (err)
		fprintf(stderr, "heapinject: cannot create a log: %s\n", strerror(-err));
	if (err || (!options->run && session_signals_is_interrupted(session.signal_fd))) {
		attachment_close(&session.attachment);
		exit_code = HI_EXIT_FAILED;
	} else {
		exit_code = run_attached(&session);
	}
	push_finish(&session.push, session.sink.is_written, options->quiet);
	sink_close(&session.sink);
	session_detached_close(&session.detached);
	return exit_code;
}
