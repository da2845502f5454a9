/* SPDX-License-Identifier: MIT */
/*
 * session.c - one run of `heapinject attach`: preflight, files, analyzer, attach, the loop that pumps and watches, and the way out.
 *
 * Every reason to stop, from the duration to the target's exit, leaves the loop by the same door: detach, drain, end record, files, receipt. Nothing between attach
 * and detach may return early.
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "analyzer_child.h"
#include "attach.h"
#include "control_socket.h"
#include "detach.h"
#include "hi_exit.h"
#include "hi_version.h"
#include "outputs.h"
#include "preflight.h"
#include "progress.h"
#include "watch.h"

#define ROUND_MS 5
#define STATS_EVERY_NS 250000000ull
#define LOADER_BUSY_ROUNDS 200 /* a second of dlopen without a pause: rather a wrong name than a full ring */
#define READER_DEADLINE_MS 30000
#define SECOND_NS 1000000000ull

struct session {
	const struct session_options *options;
	struct preflight preflight;
	struct outputs outputs;
	struct analyzer_child analyzer;
	struct hi_analyzer_status status;
	bool has_status;
	struct stream_out out;
	struct attachment attachment;
	struct pump pump;
	struct progress progress;
	struct control_socket socket;
	int client; /* who asked for the detach and waits for the answer; -1 */
	int signal_fd;
	int stdout_flags; /* as they were, while `streams` */
	uint64_t stats_ns, cpu_before_ns, busy_rounds;
	bool streams; /* to standard output, no analyzer of our own */
};

static int complain(const struct session *session, const char *what, int err, const char *remedy)
{
	fprintf(stderr, "heapinject: %s %d (%s): %s%s%s\n", what, (int)session->preflight.pid, session->preflight.comm, strerror(-err), *remedy ? "; " : "",
		remedy);
	return HI_EXIT_FAILED;
}

/* ---- before the target is touched -------------------------------------------------------------------------------------------------- */

static int check_target(struct session *session)
{
	int err = preflight_run(session->options->pid, &session->preflight);
	if (err) {
		fprintf(stderr, "heapinject: cannot look at process %d: %s\n", (int)session->options->pid, strerror(-err));
		return HI_EXIT_FAILED;
	}
	if (session->preflight.verdict == PREFLIGHT_OK) {
		if (session->preflight.asked != session->preflight.pid && !session->options->quiet)
			fprintf(stderr, "heapinject: %d is a thread of process %d (%s); attaching to that\n", (int)session->preflight.asked,
				(int)session->preflight.pid, session->preflight.comm);
		return HI_EXIT_OK;
	}
	char line[512];
	preflight_explain(&session->preflight, line, sizeof line);
	fprintf(stderr, "heapinject: %s\n", line);
	return HI_EXIT_REFUSED;
}

static int open_standard_output(struct session *session)
{
	if (isatty(STDOUT_FILENO)) {
		fprintf(stderr, "heapinject: the record stream is binary and standard output is a terminal; pipe it into `heapinject report -` or a file\n");
		return HI_EXIT_USAGE;
	}
	session->stdout_flags = fcntl(STDOUT_FILENO, F_GETFL);
	if (session->stdout_flags < 0 || (session->stdout_flags & O_ACCMODE) == O_RDONLY) {
		fprintf(stderr, "heapinject: standard output is closed; pipe it into `heapinject report -` or a file\n");
		return HI_EXIT_USAGE;
	}
	(void)fcntl(STDOUT_FILENO, F_SETFL, session->stdout_flags | O_NONBLOCK);
	return stream_out_open(&session->out, STDOUT_FILENO) ? HI_EXIT_FAILED : HI_EXIT_OK;
}

static int open_files(struct session *session)
{
	int err = outputs_create(&session->outputs, session->options->prefix, session->preflight.pid);
	if (err) {
		fprintf(stderr, "heapinject: cannot write %s.%d.NNNN.heap: %s; choose another prefix with -o\n", session->options->prefix,
			(int)session->preflight.pid, strerror(-err));
		return HI_EXIT_FAILED;
	}
	err = analyzer_child_start(&session->analyzer, session->outputs.heap_fd, session->outputs.pprof_fd);
	if (!err)
		err = stream_out_open(&session->out, session->analyzer.stream_fd);
	if (!err)
		return HI_EXIT_OK;
	fprintf(stderr, "heapinject: cannot start the analyzer: %s\n", strerror(-err));
	analyzer_child_abandon(&session->analyzer);
	outputs_close(&session->outputs, true);
	return HI_EXIT_FAILED;
}

/* An analyzer that still runs has been told nothing: its files go, too. */
static void close_outputs(struct session *session)
{
	const bool is_unused = session->analyzer.pid != 0;
	stream_out_close(&session->out);
	if (session->streams) { /* the open file may be other processes' standard output, too */
		(void)fcntl(STDOUT_FILENO, F_SETFL, session->stdout_flags);
		return;
	}
	analyzer_child_abandon(&session->analyzer);
	outputs_close(&session->outputs, is_unused);
}

/* SIGPIPE, SIGXFSZ: the reader's end, and a file that may not grow, are error codes to us. The rest is read from a descriptor, so that it can only end the session between two rounds. */
static int take_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Nothing of the target depends on us any more: who does not want to wait for the files may end us. What ended the session is not to do so once more. */
static void let_signals_kill(const struct session *session)
{
	struct signalfd_siginfo seen;
	sigset_t none;
	while (read(session->signal_fd, &seen, sizeof seen) > 0)
		;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ---- attach ----------------------------------------------------------------------------------------------------------------------- */

static size_t read_cmdline(pid_t pid, char *into, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd < 0 ? 0 : read(fd, into, size);
	if (fd >= 0)
		close(fd);
	return got > 0 ? (size_t)got : 0;
}

static int describe_target(struct session *session)
{
	char host[256] = "", cmdline[4096];
	gethostname(host, sizeof host - 1);
	const struct pump_target target = {
		.pid = session->attachment.pid,
		.interval = session->options->interval,
		.comm = session->preflight.comm,
		.exe = session->preflight.exe,
		.host = host,
		.version = HI_VERSION,
		.cmdline = cmdline,
		.cmdline_size = read_cmdline(session->attachment.pid, cmdline, sizeof cmdline),
	};
	int err = pump_header(&session->pump, &target);
	if (!err)
		err = pump_modules(&session->pump, &session->attachment.images);
	return err ? err : pump_maps(&session->pump, &session->attachment.maps);
}

static const char *attach_remedy(const struct session *session, int err)
{
	if (session->attachment.left_behind)
		return "not everything could be undone: `heapinject detach` removes the rest";
	if (err == -EBUSY)
		return "another heapinject is at work in it; end that with `heapinject detach`, or try again";
	if (err == -EAGAIN && session->options->loader == HI_LOADER_DLOPEN)
		return "no thread came to a safe point in time; the process is untouched; try again, or use --loader map";
	if (err == -EAGAIN)
		return "no thread could be stopped in time; the process is untouched; try again";
	if (err == -ENOENT)
		return "no import of malloc to hook";
	if (err == -EMFILE || err == -ENFILE)
		return "it can open no descriptor, and we need one for a moment (ulimit -n)";
	if (err == -ENOMEM)
		return "it has no room for a mapping of ours (ulimit -v, vm.max_map_count)";
	return "";
}

/* Only now that the target is ours: the socket of the session that has it is not to be taken away. */
static void listen_for_detach(struct session *session)
{
	int err = control_socket_listen(&session->socket, session->attachment.pid);
	if (err && !session->options->quiet)
		fprintf(stderr, "heapinject: no control socket (%s): `heapinject detach` will not reach this session; end it with Ctrl-C\n", strerror(-err));
}

/* Whatever step failed, and however: if this is what happened meanwhile, it is why. */
static bool is_gone(const struct session *session)
{
	const int gone = attachment_check(&session->attachment);
	if (gone)
		fprintf(stderr, "heapinject: cannot attach to %d (%s): it %s just now\n", (int)session->preflight.pid, session->preflight.comm,
			gone == -ESRCH ? "exited" : "replaced its program");
	return gone != 0;
}

static int begin(struct session *session)
{
	struct attachment *attachment = &session->attachment;
	const struct attach_options options = {.interval = session->options->interval, .loader = session->options->loader};
	attachment_init(attachment, session->preflight.pid);
	int err = attachment_open(attachment, session->preflight.tid);
	if (!err) {
		listen_for_detach(session);
		err = attach(attachment, &options);
	}
	if (err && is_gone(session))
		return HI_EXIT_REFUSED;
	if (err) {
		char what[128];
		snprintf(what, sizeof what, "%s failed for", attachment->step);
		(void)complain(session, what, err, attach_remedy(session, err));
		return err == -EBUSY || err == -EAGAIN || err == -EPERM || err == -ENOENT ? HI_EXIT_REFUSED : HI_EXIT_FAILED;
	}
	err = pump_open(&session->pump, &session->out, &attachment->memory, &attachment->images, attachment->pid);
	if (!err)
		err = describe_target(session);
	pump_connect(&session->pump, attachment->arena.ring, attachment->arena.ring_capacity);
	(void)!proc_cpu_time(attachment->pid, &session->cpu_before_ns);
	if (session->options->verbose)
		fprintf(stderr, "heapinject: attached to %d (%s): %zu GOT slots, thread held for %.2f ms, %s loader\n", (int)attachment->pid,
			session->preflight.comm, attachment->slots_written, (double)attachment->attach_stop_ns / 1e6, attachment->loader->name);
	return err ? HI_EXIT_FAILED : HI_EXIT_OK;
}

/* ---- while attached ---------------------------------------------------------------------------------------------------------------- */

static uint64_t payload_cpu_ns(const struct session *session)
{
	static struct hi_thread_slot slots[HI_THREAD_SLOTS];
	const struct hi_control *control = session->attachment.control;
	const remote_addr at = arena_state(control) + arena_state_layout(control->bucket_bits).thread_slots;
	uint64_t cycles = 0;
	if (memory_read(&session->attachment.memory, at, slots, sizeof slots))
		return 0;
	for (size_t i = 0; i < HI_THREAD_SLOTS; i++)
		cycles += slots[i].cycles;
	return (uint64_t)((double)cycles / (double)session->pump.cycles_per_second * 1e9);
}

static void send_stats(struct session *session)
{
	const struct hi_counters *counters = &session->attachment.control->counters;
	struct proc_status status = {0};
	uint64_t cpu_ns = session->cpu_before_ns;
	(void)!proc_cpu_time(session->attachment.pid, &cpu_ns);
	(void)!proc_status_read(session->attachment.pid, session->attachment.tid, &status);
	struct hi_stream_stats stats = {
		.time_ns = pump_now_ns(&session->pump),
		.samples = counters->samples,
		.frees = counters->frees,
		.dropped_allocs = counters->dropped_allocs,
		.dropped_frees = counters->dropped_frees,
		.live_set_full = counters->live_set_full,
		.no_thread_slot = counters->no_thread_slot,
		.payload_cpu_ns = payload_cpu_ns(session),
		.target_cpu_ns = cpu_ns - session->cpu_before_ns,
		.resident_bytes = status.resident_bytes,
	};
	(void)!pump_stats(&session->pump, &stats);
	if (!session->streams && analyzer_child_status(&session->analyzer, &session->status))
		session->has_status = true;
	progress_show(&session->progress, &stats, session->has_status ? &session->status : NULL, session->options->duration_s * SECOND_NS);
}

/* One round: heartbeat, what is loaded, what was sampled. 0, or a reason to stop. */
static int work(struct session *session)
{
	session->attachment.control->heartbeat = arch_cycles();
	pump_mark(&session->pump);
	int err = watch_round(&session->attachment, &session->pump);
	if (err == -EAGAIN && ++session->busy_rounds < LOADER_BUSY_ROUNDS)
		return 0;
	session->busy_rounds = 0;
	err = pump_round(&session->pump, false);
	const uint64_t now_ns = pump_now_ns(&session->pump);
	if (now_ns - session->stats_ns >= STATS_EVERY_NS) {
		session->stats_ns = now_ns;
		send_stats(session);
	}
	return err ? HI_STREAM_END_ERROR : 0;
}

/* A request on the control socket: 1 = it ends the session, and its client waits. */
static int serve(struct session *session)
{
	char request[64];
	const int client = control_socket_accept(&session->socket, request, sizeof request);
	if (client < 0)
		return 0;
	if (!strcmp(request, "detach")) {
		session->client = client;
		return 1;
	}
	dprintf(client, "failed\nunknown request\n");
	close(client);
	return 0;
}

static enum hi_stream_end_reason run(struct session *session)
{
	const uint64_t end_ns = session->options->duration_s * SECOND_NS;
	for (;;) {
		struct pollfd waits[] = {{session->signal_fd, POLLIN, 0}, {session->socket.fd, POLLIN, 0}, {session->attachment.pidfd, POLLIN, 0}};
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
		if (session->attachment.control->counters.deadman) /* the more important news, whoever asks */
			return HI_STREAM_END_DEADMAN;
		if (is_asked)
			return HI_STREAM_END_DETACH;
		if (trouble)
			return (enum hi_stream_end_reason)trouble;
		if (end_ns && pump_now_ns(&session->pump) >= end_ns)
			return HI_STREAM_END_DURATION;
	}
}

/* ---- the way out -------------------------------------------------------------------------------------------------------------------- */

static const char *explain_end(enum hi_stream_end_reason reason)
{
	switch (reason) {
	case HI_STREAM_END_EXIT:
		return "the process exited";
	case HI_STREAM_END_EXEC:
		return "the process replaced its program";
	case HI_STREAM_END_DEADMAN:
		return "heapinject was silent for too long (stopped?), so that the payload disarmed itself";
	case HI_STREAM_END_ERROR:
		return "the sample stream broke";
	case HI_STREAM_END_DETACH:
		return "asked to by heapinject detach";
	default:
		return NULL;
	}
}

/* Everything that was sampled goes out, then the maps as they are at the end, then the end record. */
static int drain(struct session *session, enum hi_stream_end_reason reason, const struct receipt *receipt)
{
	struct maps maps;
	int err = pump_round(&session->pump, true);
	if (!receipt->target_gone && !maps_read(session->attachment.pid, session->attachment.tid, &maps)) {
		(void)!pump_maps(&session->pump, &maps);
		maps_close(&maps);
	}
	int ended = pump_end(&session->pump, reason);
	int drained = stream_out_drain(&session->out, READER_DEADLINE_MS);
	return err ? err : ended ? ended : drained;
}

static int report(struct session *session, const struct receipt *receipt, FILE *out)
{
	int exit_code = HI_EXIT_OK;
	if (!session->streams) {
		const struct outputs *outputs = &session->outputs;
		fprintf(out, "Wrote %s and %s\n", outputs->heap_path, outputs->pprof_path);
		fflush(out);
		exit_code = analyzer_child_finish(&session->analyzer, out);
		if (exit_code < 0)
			fprintf(stderr, "heapinject: the analyzer was killed; the files are incomplete\n");
	}
	receipt_print(receipt, out);
	if (!session->streams)
		fprintf(out, "Look at it with: heapinject report %s --text\n", session->outputs.heap_path);
	fflush(out);
	return exit_code < 0 ? HI_EXIT_FAILED : exit_code;
}

static void answer_client(const struct session *session, const struct receipt *receipt, int exit_code)
{
	if (session->client < 0)
		return;
	FILE *answer = fdopen(session->client, "w");
	if (!answer)
		return;
	fprintf(answer, "%s\n", exit_code == HI_EXIT_OK ? "ok" : "failed");
	if (!session->streams)
		fprintf(answer, "Files: %s and %s\n", session->outputs.heap_path, session->outputs.pprof_path);
	receipt_print(receipt, answer);
	fclose(answer);
}

static int end(struct session *session, enum hi_stream_end_reason reason)
{
	struct receipt receipt;
	if (reason != HI_STREAM_END_EXIT && reason != HI_STREAM_END_EXEC)
		send_stats(session);
	/* Before anything that might wait for somebody, be it a terminal that was told to stop. */
	const int detached = detach(&session->attachment, &receipt);
	let_signals_kill(session);
	progress_close(&session->progress);
	const char *why = explain_end(reason);
	if (why && !session->options->quiet)
		fprintf(stderr, "heapinject: ending: %s\n", why);
	const int drained = drain(session, reason, &receipt);
	if (drained)
		fprintf(stderr, "heapinject: the record stream is incomplete: %s\n", strerror(-drained));
	int exit_code = report(session, &receipt, session->streams ? stderr : stdout);
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
		exit_code = end(session, exit_code == HI_EXIT_OK ? run(session) : HI_STREAM_END_ERROR);
		pump_close(&session->pump);
	}
	control_socket_close(&session->socket); /* while the target is still ours, or it might be the next session's */
	attachment_close(&session->attachment);
	return exit_code;
}

int session_attach(const struct session_options *options)
{
	static struct session session; /* large, and one a process */
	session = (struct session){.options = options, .client = -1, .socket = {.fd = -1}, .streams = !strcmp(options->prefix, "-")};
	int exit_code = check_target(&session);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	exit_code = session.streams ? open_standard_output(&session) : open_files(&session);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	session.signal_fd = take_signals();
	exit_code = run_attached(&session);
	close_outputs(&session);
	return exit_code;
}
