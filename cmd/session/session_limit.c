/* SPDX-License-Identifier: MIT */
/* session_limit.c - see session_limit.h. Start at session_limit_look(). */
#include "session_limit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exit_status.h"
#include "hi_units.h"
#include "plain_text.h"
#include "proc_file.h"
#include "procfs.h"

/* figures: every round close to the next profile, less often while there is much room */
#define RELAXED_NS 20000000ull
/* a process can be moved, and limits can be set, while it runs */
#define FIND_EVERY_NS 2000000000ull
/*
 * a kill is counted just before the process that was chosen has its signal: without one so long
 * after it, the process has outlived the kill of another one
 */
#define OUTLIVES_EVERY_NS 100000000ull
#define NICE_IN_A_HURRY (-15)
/* kills count in the whole machine: below this, they are of cgroups with limits of their own */
#define MACHINE_FULL_PERCENT 50
#define LINE_MAX_BYTES (PATH_MAX + HI_ANALYZER_SENTENCE_MAX + 256)

static bool is_watching(const struct session *session)
{
	return session->guarded.is_open;
}

/* ---- beginning ------------------------------------------------------------------------------- */

static int open_watch(struct session *session)
{
	return memory_watch_open(session->attachment.pid, session->attachment.tid,
				 &session->guarded.memory);
}

static void read_figures(struct session *session, struct limit_figures *out_figures)
{
	struct session_limit *guarded = &session->guarded;
	struct memory_figures figures;
	const uint64_t now_ns = pump_now_ns(&session->pump) + 1;

	memory_watch_read(&guarded->memory, limit_watch_next(&guarded->watch) / 2, now_ns,
			  &figures);
	*out_figures = (struct limit_figures){.now_ns = now_ns,
					      .limit = figures.limit,
					      .used = figures.used,
					      .stalls = figures.stalls,
					      .is_pressed = guarded->is_pressed};
	guarded->is_pressed = guarded->is_woken = false;
	guarded->looked_ns = now_ns;
}

static void say_what_is_watched(const struct session *session, const struct limit_figures *figures)
{
	const struct session_limit *guarded = &session->guarded;
	char limit[HI_UNITS_TEXT_MAX], own[HI_UNITS_TEXT_MAX], what[PATH_MAX];

	if (session->options->quiet)
		return;
	fprintf(stderr, "heapinject: guards %d (%s): %s, %s, is %.0f%% in use; profiles at ",
		(int)session->attachment.pid, session->preflight.comm,
		memory_watch_describe(&guarded->memory, what),
		hi_format_bytes((double)figures->limit, limit, sizeof(limit)),
		figures->limit ? 100 * (double)figures->used / (double)figures->limit : 0);
	limit_describe_at(guarded->watch.options, stderr);
	fprintf(stderr, " and when processes wait for memory\n");
	if (session->options->verbose)
		fprintf(stderr,
			"heapinject: what it maps into the process counts, too: at most %s\n",
			hi_format_bytes((double)session->attachment.control->arena_size, own,
					sizeof(own)));
}

void session_limit_begin(struct session *session)
{
	struct session_limit *guarded = &session->guarded;
	struct limit_figures figures;

	if (!session->options->triggers.limit.count || !session->attachment.control)
		return;
	limit_watch_open(&guarded->watch, &session->options->triggers.limit);
	const int err = open_watch(session);
	if (err) {
		fprintf(stderr, "heapinject: the memory limit cannot be watched: %s\n",
			strerror(-err));
		return;
	}
	guarded->is_open = true;
	guarded->nice = getpriority(PRIO_PROCESS, 0);
	guarded->found_ns = pump_now_ns(&session->pump);
	read_figures(session, &figures);
	say_what_is_watched(session, &figures);
}

bool session_limit_is_log(const struct session *session)
{
	return is_watching(session) && !session->progress.is_terminal && !session->options->verbose;
}

/* ---- looking --------------------------------------------------------------------------------- */

size_t session_limit_waits(const struct session *session, struct pollfd waits[SESSION_LIMIT_WAITS])
{
	const struct memory_watch *memory = &session->guarded.memory;

	if (!is_watching(session))
		return 0;
	waits[0] = (struct pollfd){memory->pressure_fd, POLLIN | POLLPRI, 0};
	waits[1] = (struct pollfd){memory->threshold_fd, POLLIN, 0};
	/* of a trigger of pressure only POLLPRI is an event */
	if (memory->is_machine || !memory->cgroup.is_v1)
		waits[0].events = POLLPRI;
	return SESSION_LIMIT_WAITS;
}

void session_limit_woken(struct session *session, const struct pollfd *waits, size_t count)
{
	struct session_limit *guarded = &session->guarded;

	if (!count || !(waits[0].revents | waits[1].revents))
		return;
	guarded->is_woken = true;
	guarded->is_pressed |=
		memory_watch_woken(&guarded->memory, waits[0].revents, waits[1].revents);
}

/* A killed process has the signal until its end, which may take seconds if it is large. */
static bool is_dying(const struct session *session)
{
	struct proc_status status;

	return proc_status_read(session->attachment.pid, session->attachment.tid, &status) ||
	       !status.size_bytes ||
	       (status.sig_pending | status.sig_shared_pending) & 1ull << (SIGKILL - 1);
}

/* Kills of other processes do not count. */
static void outlive(struct session *session, uint64_t now_ns)
{
	struct session_limit *guarded = &session->guarded;

	if (now_ns < guarded->outlived_ns + OUTLIVES_EVERY_NS)
		return;
	guarded->outlived_ns = now_ns;
	if (!memory_watch_kills(&guarded->memory) || !is_dying(session))
		memory_watch_outlives(&guarded->memory);
}

/* Whether another limit has become the nearest since. */
static void find_limit(struct session *session, uint64_t now_ns)
{
	static struct memory_cgroup cgroup; /* large */
	struct session_limit *guarded = &session->guarded;
	const struct memory_cgroup *before = &guarded->memory.cgroup;
	char *text;

	if (now_ns < guarded->found_ns + FIND_EVERY_NS)
		return;
	guarded->found_ns = now_ns;
	if (proc_file_read(session->attachment.pid, session->attachment.tid, "cgroup", &text, NULL))
		return;
	memory_limit_find_cgroup(MEMORY_LIMIT_CGROUPS, text, &cgroup);
	free(text);
	if (!strcmp(cgroup.own, before->own) && !strcmp(cgroup.path, before->path))
		return;
	struct memory_watch old = guarded->memory;

	if (open_watch(session))
		guarded->memory = old; /* the process has just ended */
	else
		memory_watch_close(&old);
	guarded->watch.has_stalls = false;
	guarded->armed = 0;
}

/*
 * What the analyzer says of who grows, without what it says of how to know more. It comes from a
 * process that has read the target's data, and need not be terminated.
 */
static int first_sentence(const char text[HI_ANALYZER_SENTENCE_MAX])
{
	const size_t size = strnlen(text, HI_ANALYZER_SENTENCE_MAX);
	const char *end = memmem(text, size, ". ", 2);

	return end ? (int)(end - text) : (int)size;
}

/* How far away the limit is, and who grows. */
static void say_where_it_is(struct session *session, const char *cause)
{
	const struct limit_watch *watch = &session->guarded.watch;
	char line[LINE_MAX_BYTES], elapsed[HI_UNITS_TEXT_MAX], limit[HI_UNITS_TEXT_MAX],
		left[HI_UNITS_TEXT_MAX], rate[HI_UNITS_TEXT_MAX], when[128] = "";
	const char *grows = session->has_status ? session->status.sentence : "";
	uint64_t ns;
	double slope;

	if (limit_watch_forecast(watch, &ns, &slope))
		snprintf(when, sizeof(when), ", reached in %s at %s/s",
			 ns < SECOND_NS ? hi_format_ns((double)ns, left, sizeof(left))
					: hi_format_duration(ns / SECOND_NS, left, sizeof(left)),
			 hi_format_bytes(slope, rate, sizeof(rate)));
	int length = snprintf(
		line, sizeof(line), "heapinject: %s: %s%.1f%% of the limit of %s in use%s%s%.*s",
		hi_format_duration(watch->now.now_ns / SECOND_NS, elapsed, sizeof(elapsed)), cause,
		limit_watch_percent(watch),
		hi_format_bytes((double)watch->now.limit, limit, sizeof(limit)), when,
		*grows ? "; " : "", *grows ? first_sentence(grows) : 0, grows);
	/* the sentence has passed through a process that has read the target's data */
	for (int i = 0; i < length && line[i]; i++)
		if (line[i] < ' ' || line[i] > '~')
			line[i] = '?';
	progress_say(&session->progress, line);
}

/* A profile that was finished since, and whether that was before the process was killed. */
static void note_written(struct session *session, uint64_t now_ns)
{
	struct session_limit *guarded = &session->guarded;
	struct pollfd end = {session->attachment.pidfd, POLLIN, 0};

	if (session->dumps.written == guarded->written)
		return;
	guarded->written = session->dumps.written;
	/* between the kill and the end of a large process there are tens of milliseconds */
	if (poll(&end, 1, 0) > 0 || memory_watch_kills(&guarded->memory))
		return;
	guarded->last_percent = guarded->begun_percent;
	memcpy(guarded->last_path, session->dumps.last_path, sizeof(guarded->last_path));
	guarded->watch.write_ns = now_ns - session->dumps.begun_ns;
}

/*
 * A profile that is written when the limit is reached within seconds must not wait for a CPU: that
 * is a few tens of milliseconds for each.
 */
static void hurry(struct session *session, bool hurries)
{
	struct session_limit *guarded = &session->guarded;
	const int nice = hurries ? NICE_IN_A_HURRY : guarded->nice;

	if (hurries == guarded->is_hurrying)
		return;
	guarded->is_hurrying = hurries;
	analyzer_child_set_nice(&session->sink.analyzer, nice);
	(void)setpriority(PRIO_PROCESS, 0, nice);
}

void session_limit_look(struct session *session)
{
	struct session_limit *guarded = &session->guarded;
	const uint64_t now_ns = pump_now_ns(&session->pump);
	struct limit_figures figures;

	if (!is_watching(session))
		return;
	note_written(session, now_ns);
	if (!session->dumps.is_pending)
		hurry(session, false);
	outlive(session, now_ns);
	find_limit(session, now_ns);
	const uint64_t next = limit_watch_next(&guarded->watch);
	if (!guarded->is_woken && guarded->watch.now.limit && guarded->watch.now.used < next / 2 &&
	    now_ns < guarded->looked_ns + RELAXED_NS)
		return;
	read_figures(session, &figures);
	const uint32_t due = limit_watch_look(&guarded->watch, &figures);
	const uint64_t then = limit_watch_next(&guarded->watch);
	if (then != guarded->armed && then != UINT64_MAX) {
		guarded->armed = then;
		memory_watch_arm(&guarded->memory, then);
	}
	dumps_want(&session->dumps, due);
	if (due)
		say_where_it_is(session,
				due & HI_DUMP_PRESSURE ? "processes wait for memory, " : "");
	else if (limit_watch_is_news(&guarded->watch))
		say_where_it_is(session, "");
}

void session_limit_dump(struct session *session)
{
	struct limit_figures figures;

	if (!is_watching(session))
		return;
	/* a dump that had to wait is of now */
	read_figures(session, &figures);
	if (figures.limit) {
		session->guarded.watch.now.used = figures.used;
		session->guarded.watch.now.limit = figures.limit;
	}
	hurry(session, limit_watch_is_near(&session->guarded.watch));
	session->guarded.begun_percent = limit_watch_percent(&session->guarded.watch);
	session->limit_ns = 0; /* the profile is to have the figures of now, too */
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The signal that ended the process; 0: not known; -1: none, it has exited. */
static int signal_of(const struct attachment *attachment)
{
	int status;

	if (exit_status_read(attachment->pid, attachment->pidfd, &status))
		return 0;
	return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

static bool can_be_killed(const struct session_limit *guarded)
{
	return !guarded->memory.is_machine || !guarded->watch.now.limit ||
	       limit_watch_percent(&guarded->watch) >= MACHINE_FULL_PERCENT;
}

const char *session_limit_explain(struct session *session, enum hi_stream_end_reason reason)
{
	static char line[128];
	struct session_limit *guarded = &session->guarded;

	if (!is_watching(session) || reason != HI_STREAM_END_EXIT)
		return NULL;
	const int number = signal_of(&session->attachment);
	const uint64_t kills = memory_watch_kills(&guarded->memory);
	char counted[64];

	snprintf(counted, sizeof(counted), "%llu kill%s counted (oom_kill)",
		 (unsigned long long)kills, kills == 1 ? "" : "s");
	guarded->was_killed = kills && can_be_killed(guarded) && (!number || number == SIGKILL);
	if (guarded->was_killed)
		snprintf(line, sizeof(line), "the OOM killer has killed the process: %s%s", counted,
			 number ? ", it ended by SIGKILL" : "");
	else if (number > 0)
		snprintf(line, sizeof(line),
			 "the process was ended by signal %d (%s), not by the OOM killer", number,
			 strsignal(number));
	else
		return NULL;
	return line;
}

void session_limit_report(const struct session *session, FILE *out)
{
	const struct session_limit *guarded = &session->guarded;

	if (!is_watching(session))
		return;
	if (*guarded->last_path)
		fprintf(out, "Last profile %s: %s (at %.1f%% of the limit)\n",
			guarded->was_killed ? "before the kill" : "of the guard",
			guarded->last_path, guarded->last_percent);
	else if (guarded->was_killed)
		fprintf(out, "No profile was whole before the kill\n");
	if (guarded->was_killed && session->sink.is_written)
		fprintf(out, "All that was seen up to the kill: %s\n",
			session->sink.outputs.heap_path);
}

void session_limit_json(const struct session *session, FILE *out)
{
	const struct session_limit *guarded = &session->guarded;

	if (!is_watching(session))
		return;
	fprintf(out, ",\"guard\":{\"limit\":%llu,\"used\":%llu,\"oom_killed\":%s",
		(unsigned long long)guarded->watch.now.limit,
		(unsigned long long)guarded->watch.now.used,
		guarded->was_killed ? "true" : "false");
	if (*guarded->last_path) {
		fprintf(out, ",\"last_percent\":%.1f,\"last_file\":", guarded->last_percent);
		plain_text_json(out, guarded->last_path);
	}
	fputc('}', out);
}

void session_limit_close(struct session *session)
{
	if (!is_watching(session))
		return;
	hurry(session, false);
	memory_watch_close(&session->guarded.memory);
	session->guarded.is_open = false;
}
