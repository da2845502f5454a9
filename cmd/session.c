/* SPDX-License-Identifier: MIT */
/*
 * session.c - one run of `heapinject attach`: preflight, files, analyzer, attach, the loop that
 * pumps and watches, and the end.
 *
 * Every reason to stop, from the duration to the target's exit, leaves the loop in the same way:
 * detach, drain, end record, files, receipt. Nothing between attach and detach may return early.
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "attach.h"
#include "attach_entries.h"
#include "control_socket.h"
#include "detach.h"
#include "dumps.h"
#include "hi_exit.h"
#include "hi_version.h"
#include "overhead.h"
#include "preflight.h"
#include "proc_file.h"
#include "progress.h"
#include "refusal.h"
#include "sink.h"
#include "stats.h"
#include "watch.h"

#define ROUND_MS 5
#define STATS_EVERY_NS 250000000ull
/* a second of uninterrupted dlopen; after that a wrong name is better than a full ring */
#define LOADER_BUSY_ROUNDS 200
#define READER_DEADLINE_MS 30000
#define SECOND_NS 1000000000ull
#define DESCRIPTORS_MAX 65536

struct session {
	const struct session_options *options;
	struct preflight preflight;
	struct sink sink;
	struct hi_analyzer_status status;
	bool has_status;
	struct attachment attachment;
	struct pump pump;
	struct overhead overhead;
	struct progress progress;
	struct dumps dumps;
	struct control_socket socket;
	/* connection of the client that asked for the detach and waits for the answer; -1 = none */
	int client;
	int signal_fd;
	uint64_t stats_ns, cpu_before_ns, busy_rounds;
};

/* ---- before the target is touched ------------------------------------------------------------ */

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

/* Whether every free is recorded, and so no live set is kept. */
static bool records_all_frees(const struct session_options *options)
{
	return options->interval == HI_INTERVAL_EXACT && !options->budget_ppm && !options->live_max;
}

/* HI_EXIT_OK: the attachment holds what preflight has read, and the caller must close it. */
static int check_target(struct session *session)
{
	const struct arena_plan plan = {.interval = session->options->interval,
					.live_max = session->options->live_max,
					.records_all_frees = records_all_frees(session->options)};
	struct preflight_program program;
	int err = preflight_run(session->options->pid, &plan, &session->preflight, &program);
	if (err) {
		fprintf(stderr, "heapinject: cannot look at process %d: %s\n",
			(int)session->options->pid, strerror(-err));
		return HI_EXIT_FAILED;
	}
	if (session->preflight.verdict == PREFLIGHT_OK) {
		attachment_init(&session->attachment, session->preflight.pid);
		session->attachment.memory = program.memory;
		session->attachment.images = program.images;
		if (session->preflight.asked != session->preflight.pid && !session->options->quiet)
			fprintf(stderr,
				"heapinject: %d is a thread of process %d (%s); attaching to "
				"that\n",
				(int)session->preflight.asked, (int)session->preflight.pid,
				session->preflight.comm);
		return HI_EXIT_OK;
	}
	char line[512];
	preflight_explain(&session->preflight, line, sizeof(line));
	fprintf(stderr, "heapinject: %s\n", line);
	return HI_EXIT_REFUSED;
}

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define ENDING_SIGNALS (sizeof(ending_signals) / sizeof(ending_signals[0]))
static pid_t own_pid;

/*
 * Signal handler for the time before there is a session to end properly. Child processes that were
 * started to answer a question end without a message.
 */
static void end_early(int signal)
{
	static const char word[] = "heapinject: interrupted before anything was touched\n";
	(void)signal;
	if (getpid() == own_pid)
		(void)!write(STDERR_FILENO, word, sizeof(word) - 1);
	_exit(HI_EXIT_FAILED);
}

/*
 * Replaces the handler `from` by `to`. A signal that is ignored stays ignored: a shell without job
 * control makes its background jobs ignore SIGINT.
 */
static void handle_signals(void (*from)(int), void (*to)(int))
{
	for (size_t i = 0; i < ENDING_SIGNALS; i++) {
		struct sigaction action;
		if (!sigaction(ending_signals[i], NULL, &action) && action.sa_handler == from)
			signal(ending_signals[i], to);
	}
}

/*
 * SIGPIPE and SIGXFSZ are ignored, because the session handles a closed reader and a file that may
 * not grow as error codes. The other signals are read from a descriptor, so that they can end the
 * session only between two rounds.
 */
static int take_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		sigaddset(&set, ending_signals[i]);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	handle_signals(end_early, SIG_DFL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Whether a signal arrived before the target was touched. */
static bool is_interrupted(const struct session *session)
{
	struct pollfd waits = {session->signal_fd, POLLIN, 0};
	if (poll(&waits, 1, 0) <= 0)
		return false;
	fprintf(stderr, "heapinject: interrupted before anything was touched\n");
	return true;
}

/*
 * To be called after detach, when the target no longer depends on this process: a user who does not
 * want to wait for the files may then kill it. Signals that have already ended the session are read
 * first, so that they do not kill it now.
 */
static void let_signals_kill(const struct session *session)
{
	struct signalfd_siginfo seen;
	sigset_t none;
	while (read(session->signal_fd, &seen, sizeof(seen)) > 0)
		;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ---- attach ---------------------------------------------------------------------------------- */

static size_t read_cmdline(pid_t pid, char *into, size_t size)
{
	int fd;
	if (proc_open(pid, 0, "cmdline", O_RDONLY, &fd))
		return 0;
	const ssize_t got = read(fd, into, size);
	close(fd);
	return got > 0 ? (size_t)got : 0;
}

/*
 * Sends the current memory figures of the process, without what heapinject has mapped into it.
 * Nothing is sent if the process ends in the meantime.
 */
static int send_memory(struct session *session)
{
	struct proc_status status;
	if (proc_status_read(session->attachment.pid, session->attachment.tid, &status) ||
	    !status.writable_bytes)
		return 0;
	return pump_memory(&session->pump, &status, session->attachment.control->state.size);
}

/* Warns of an unhooked allocator. Later the user could notice it only by what is missing. */
static void warn_unhooked(const struct session *session)
{
	char text[UNHOOKED_TEXT_MAX];
	if (session->preflight.unhooked.count && !session->options->quiet)
		fprintf(stderr,
			"heapinject: its allocations go to %s, which is not hooked: they will not "
			"be seen\n",
			unhooked_describe(&session->preflight.unhooked, text, sizeof(text)));
}

static int describe_target(struct session *session)
{
	char host[256] = "", cmdline[4096];
	gethostname(host, sizeof(host) - 1);
	const struct pump_target target = {
		.pid = session->attachment.pid,
		.interval = session->options->interval,
		.budget_ppm = session->options->budget_ppm,
		.comm = session->preflight.comm,
		.exe = session->preflight.exe,
		.host = host,
		.version = HI_VERSION,
		.cmdline = cmdline,
		.cmdline_size = read_cmdline(session->attachment.pid, cmdline, sizeof(cmdline)),
	};
	int err = pump_header(&session->pump, &target);
	if (!err)
		err = pump_unhooked(&session->pump, &session->preflight.unhooked);
	if (!err)
		err = send_memory(session);
	if (!err)
		err = pump_modules(&session->pump, &session->attachment.images);
	return err ? err : pump_maps(&session->pump, &session->attachment.maps);
}

/*
 * To be called only after attachment_open has taken the target: the socket of a session that is
 * attached already must not be replaced.
 */
static void listen_for_detach(struct session *session)
{
	int err = control_socket_listen(&session->socket, session->attachment.pid);
	if (err && !session->options->quiet)
		fprintf(stderr,
			"heapinject: no control socket (%s): `heapinject detach` will not reach "
			"this session; end it with Ctrl-C\n",
			strerror(-err));
}

static void describe_session(const struct session *session)
{
	const struct attachment *attachment = &session->attachment;
	fprintf(stderr,
		"heapinject: attached to %d (%s): %zu functions at their entry, %zu GOT slots, "
		"thread held for %.2f ms, %s loader\n",
		(int)attachment->pid, session->preflight.comm, attachment->entries_written,
		attachment->slots_written, (double)attachment->attach_stop_ns / 1e6,
		attachment->loader->name);
	sink_describe(&session->sink);
}

static int begin(struct session *session)
{
	struct attachment *attachment = &session->attachment;
	const struct session_options *asked = session->options;
	const struct attach_options options = {
		.interval = asked->interval,
		.live_max = asked->live_max,
		/*
		 * If every block is a sample for the whole session, the target needs no live set:
		 * the analyzer knows which block a free belongs to.
		 */
		.records_all_frees = records_all_frees(asked),
		.loader = asked->loader,
		.hook = asked->hook,
	};
	int err = attachment_open(attachment, session->preflight.tid);
	if (!err) {
		listen_for_detach(session);
		err = attach(attachment, &options);
	}
	if (err)
		return refusal_explain(&session->preflight, attachment, session->options->loader,
				       err);
	/*
	 * malloc could not be hooked at its entry, although preflight may have taken that for
	 * possible
	 */
	if (!attachment->entries.entry[HI_FN_MALLOC].at)
		unhooked_find(&attachment->images, &attachment->allocator, 0,
			      &session->preflight.unhooked);
	err = pump_open(&session->pump, &session->sink.out, &attachment->memory,
			&attachment->images, attachment->pid);
	session->pump.broker = sink_broker(&session->sink);
	if (!err)
		err = describe_target(session);
	pump_connect(&session->pump,
		     &(struct rings){attachment->arena.ring, attachment->arena.ring_capacity,
				     attachment->arena.ring_count});
	if (!err)
		err = pump_connect_stacks(&session->pump, attachment->arena.stacks,
					  attachment->arena.stacks_size);
	(void)!proc_cpu_time(attachment->pid, &session->cpu_before_ns);
	overhead_open(&session->overhead, session->options->budget_ppm, session->options->interval);
	if (session->options->verbose)
		describe_session(session);
	warn_unhooked(session);
	return err ? HI_EXIT_FAILED : HI_EXIT_OK;
}

/* ---- while attached -------------------------------------------------------------------------- */

/* Writes the record first: the payload may draw with the new mean from the next instruction on. */
static void change_interval(struct session *session)
{
	const uint32_t interval_shift = session->overhead.interval_shift;
	(void)!pump_interval(&session->pump, session->options->interval << interval_shift);
	__atomic_store_n(&session->attachment.arena.shared->interval_shift, interval_shift,
			 __ATOMIC_RELAXED);
}

static void send_stats(struct session *session)
{
	struct hi_stream_stats stats =
		stats_read(&session->attachment, &session->pump, session->cpu_before_ns);
	(void)!send_memory(session);
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
	send_stats(session);
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
		send_stats(session);
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

static enum hi_stream_end_reason run(struct session *session)
{
	for (;;) {
		struct pollfd waits[] = {{session->signal_fd, POLLIN, 0},
					 {session->socket.fd, POLLIN, 0},
					 {session->attachment.pidfd, POLLIN, 0}};
		(void)poll(waits, 3, ROUND_MS);
		const int trouble = work(session);
		if (waits[2].revents)
			return HI_STREAM_END_EXIT;
		const int gone = attachment_check(&session->attachment);
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

/* ---- the way out ----------------------------------------------------------------------------- */

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

/* Writes everything that was sampled, then the mappings at the end, then the end record. */
static int drain(struct session *session, enum hi_stream_end_reason reason,
		 const struct receipt *receipt)
{
	struct maps maps;
	int err = pump_drain(&session->pump, READER_DEADLINE_MS);
	if (!receipt->target_gone &&
	    !maps_read(session->attachment.pid, session->attachment.tid, &maps)) {
		(void)!pump_maps(&session->pump, &maps);
		maps_close(&maps);
	}
	int ended = pump_end(&session->pump, reason);
	int drained = stream_out_drain(&session->sink.out, READER_DEADLINE_MS);
	return err ? err : ended ? ended : drained;
}

static int report(struct session *session, const struct receipt *receipt)
{
	FILE *out = session->sink.streams ? stderr : stdout;
	const int exit_code = sink_finish(&session->sink, out);
	receipt_print(receipt, out);
	if ((fflush(out) || ferror(out)) && out != stderr)
		receipt_print(receipt, stderr);
	dumps_close(&session->dumps);
	if (session->sink.is_written)
		fprintf(out, "Look at it with: heapinject report %s --text\n",
			session->sink.outputs.heap_path);
	if (session->sink.is_written && session->dumps.first_path[0])
		fprintf(out,
			"What has changed since the first of %u before it: heapinject diff %s %s "
			"--text\n",
			session->dumps.written, session->dumps.first_path,
			session->sink.outputs.heap_path);
	fflush(out);
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

static int end(struct session *session, enum hi_stream_end_reason reason)
{
	struct receipt receipt;
	if (reason != HI_STREAM_END_EXIT && reason != HI_STREAM_END_EXEC)
		send_stats(session);
	/*
	 * Detach comes before anything that might block, for example a write to a terminal that is
	 * stopped.
	 */
	const int detached = detach(&session->attachment, &receipt);
	let_signals_kill(session);
	progress_close(&session->progress);
	dumps_look(&session->dumps);
	const char *why = explain_end(reason);
	if (why && !session->options->quiet)
		fprintf(stderr, "heapinject: ending: %s\n", why);
	const int drained = drain(session, reason, &receipt);
	if (drained)
		fprintf(stderr, "heapinject: the record stream is incomplete: %s\n",
			drained == -EPROTO ? "the process has written over the buffer through "
					     "which samples come"
					   : strerror(-drained));
	if (!detached)
		arena_free_rings(&session->attachment.arena);
	int exit_code = report(session, &receipt);
	if (detached || drained || reason == HI_STREAM_END_ERROR)
		exit_code = HI_EXIT_FAILED;
	answer_client(session, &receipt, exit_code);
	return exit_code;
}

static int run_attached(struct session *session)
{
	int exit_code = begin(session);
	if (exit_code == HI_EXIT_OK || session->attachment.control) {
		progress_open(&session->progress, session->options->quiet);
		dumps_open(&session->dumps, &session->sink, &session->progress,
			   session->options->every_s * SECOND_NS);
		session->progress.interval = session->options->interval;
		exit_code =
			end(session, exit_code == HI_EXIT_OK ? run(session) : HI_STREAM_END_ERROR);
		pump_close(&session->pump);
	}
	/*
	 * while this process still holds the target: later the socket might be that of the next
	 * session
	 */
	control_socket_close(&session->socket);
	attachment_close(&session->attachment);
	return exit_code;
}

int session_attach(const struct session_options *options)
{
	/* static, as it is large; there is one session per process */
	static struct session session;
	session = (struct session){.options = options, .client = -1, .socket = {.fd = -1}};
	own_pid = getpid();
	handle_signals(SIG_DFL, end_early);
	arch_cycles_calibrate();
	raise_descriptor_limit();
	int exit_code = check_target(&session);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	/* before the files are created, so that a signal cannot leave them behind */
	session.signal_fd = take_signals();
	exit_code = sink_open(&session.sink, options->prefix, &session.preflight);
	if (exit_code != HI_EXIT_OK) {
		attachment_close(&session.attachment);
		return exit_code;
	}
	session.sink.outputs.keep = options->keep;
	if (is_interrupted(&session)) {
		attachment_close(&session.attachment);
		exit_code = HI_EXIT_FAILED;
	} else {
		exit_code = run_attached(&session);
	}
	sink_close(&session.sink);
	return exit_code;
}
