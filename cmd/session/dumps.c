/* SPDX-License-Identifier: MIT */
/* dumps.c - see dumps.h. */
#include "dumps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control_descriptor.h"
#include "hi_units.h"

#define SECOND_NS 1000000000ull

void dumps_open(struct dumps *dumps, struct sink *sink, struct progress *progress,
		uint64_t every_ns)
{
	*dumps = (struct dumps){
		.sink = sink, .progress = progress, .every_ns = every_ns, .due_ns = every_ns};
}

/* ---- clients --------------------------------------------------------------------------------- */

static void answer(int connection, const char *word, const char *text)
{
	dprintf(connection, "%s\n%s\n", word, text);
	close(connection);
}

static void answer_all(struct dump_clients *clients, const char *word, const char *text)
{
	for (size_t i = 0; i < clients->count; i++)
		answer(clients->connection[i], word, text);
	clients->count = 0;
}

static void add_client(const struct dumps *dumps, struct dump_clients *clients, int connection)
{
	if (dumps->sink->streams)
		answer(connection, "failed",
		       "the session writes its record stream to standard output (-o -) and has no "
		       "files; look at the stream with heapinject report -");
	else if (clients->count == DUMPS_CLIENTS_MAX)
		answer(connection, "failed", "too many ask for a profile at once; try again");
	else
		clients->connection[clients->count++] = connection;
}

void dumps_ask(struct dumps *dumps, int connection)
{
	add_client(dumps, &dumps->asking, connection);
}

void dumps_show(struct dumps *dumps, enum dumps_view view, int connection)
{
	add_client(dumps, &dumps->watching[view], connection);
}

/* The first view that clients wait for, or DUMPS_VIEWS. */
static enum dumps_view watched(const struct dumps *dumps)
{
	unsigned view = 0;

	while (view < DUMPS_VIEWS && !dumps->watching[view].count)
		view++;
	return (enum dumps_view)view;
}

/* ---- one dump -------------------------------------------------------------------------------- */

static const char *elapsed(uint64_t ns)
{
	static char text[HI_UNITS_TEXT_MAX];

	return hi_format_duration(ns / SECOND_NS, text, sizeof(text));
}

void dumps_want(struct dumps *dumps, uint32_t triggers)
{
	dumps->wanted |= triggers;
}

bool dumps_is_due(struct dumps *dumps, uint64_t now_ns)
{
	bool is_time = dumps->every_ns && now_ns >= dumps->due_ns;
	char line[128];

	if (is_time)
		dumps->due_ns = (now_ns / dumps->every_ns + 1) * dumps->every_ns;
	if (is_time && dumps->is_pending) {
		snprintf(line, sizeof(line),
			 "heapinject: %s: no profile, as the one before is still being written",
			 elapsed(now_ns));
		progress_say(dumps->progress, line);
		is_time = false;
	}
	dumps->is_time |= is_time;
	return is_time ||
	       ((dumps->asking.count || dumps->wanted || watched(dumps) != DUMPS_VIEWS) &&
		!dumps->is_pending);
}

/* Tells the user which files were written, or why not. */
static void report_result(struct dumps *dumps, int err, const struct outputs_dump *dump)
{
	char line[2 * PATH_MAX + 128 + HI_DUMP_TEXT_MAX], trigger[HI_DUMP_TEXT_MAX];

	if (err)
		snprintf(line, sizeof(line),
			 "heapinject: %s: cannot write the profile: %s; the session goes on",
			 elapsed(dumps->begun_ns), strerror(-err));
	else
		snprintf(line, sizeof(line), "heapinject: %s: wrote %s and %s (%s)",
			 elapsed(dumps->begun_ns), dump->heap_path, dump->pprof_path,
			 hi_dump_describe(dumps->trigger, trigger));
	if (err)
		progress_complain(dumps->progress, line);
	else
		progress_say(dumps->progress, line);
}

static void answer_waiting(struct dumps *dumps, int err, const struct outputs_dump *dump)
{
	char text[2 * PATH_MAX + 128], heap[PATH_MAX], pprof[PATH_MAX];

	if (err) {
		snprintf(text, sizeof(text),
			 "the profile could not be written: %s; the session goes on",
			 strerror(-err));
	} else {
		outputs_absolute(&dumps->sink->outputs, dump->heap_path, heap);
		outputs_absolute(&dumps->sink->outputs, dump->pprof_path, pprof);
		snprintf(text, sizeof(text), "%s\n%s", heap, pprof);
	}
	answer_all(&dumps->waiting, err ? "failed" : "ok", text);
}

static void count(struct dumps *dumps, const struct outputs_dump *dump)
{
	const size_t keep = dumps->sink->outputs.keep;

	if (!dumps->written++)
		memcpy(dumps->first_path, dump->heap_path, sizeof(dumps->first_path));
	memcpy(dumps->last_path, dump->heap_path, sizeof(dumps->last_path));
	if (keep && dumps->written > keep)
		dumps->first_path[0] = 0;
}

/* Each client gets a descriptor of its own place in the same memory. */
static void show(struct dumps *dumps, int err, int memory)
{
	if (err) {
		answer_waiting(dumps, err, NULL);
		return;
	}
	for (size_t i = 0; i < dumps->waiting.count; i++) {
		(void)control_descriptor_give(dumps->waiting.connection[i], memory);
		close(dumps->waiting.connection[i]);
	}
	dumps->waiting.count = 0;
	close(memory);
}

static void finish(struct dumps *dumps, int err, const struct outputs_dump *dump)
{
	dumps->is_pending = false;
	if (dumps->is_shown) {
		show(dumps, err, err ? -1 : dump->heap_fd);
		return;
	}
	if (!err)
		count(dumps, dump);
	if (!err && dumps->push)
		push_hand_over(dumps->push, dump->read_fd, dumps->unix_ns);
	if (err != -EPIPE) /* the session itself reports that the analyzer has gone */
		report_result(dumps, err, dump);
	answer_waiting(dumps, err, dump);
}

int dumps_begin(struct dumps *dumps, uint64_t now_ns)
{
	const uint32_t files = dumps->wanted | (dumps->is_time ? HI_DUMP_EVERY : 0) |
			       (dumps->asking.count ? HI_DUMP_REQUEST : 0);
	const enum dumps_view view = watched(dumps);
	struct dump_clients *clients = files ? &dumps->asking : &dumps->watching[view];
	int err;

	dumps->is_shown = !files;
	dumps->trigger = files ? files : view == DUMPS_STACKED ? HI_DUMP_STACKED : HI_DUMP_SHOWN;
	err = sink_expect_dump(dumps->sink, dumps->is_shown);
	dumps->begun_ns = now_ns;
	dumps->unix_ns = push_now_unix_ns();
	dumps->is_pending = true;
	if (files) {
		dumps->wanted = 0;
		dumps->is_time = false;
	}
	dumps->waiting = *clients;
	clients->count = 0;
	if (err)
		finish(dumps, err, NULL);
	return err;
}

void dumps_look(struct dumps *dumps)
{
	static struct outputs_dump dump; /* large */
	int err;

	if (dumps->is_pending && sink_dump_result(dumps->sink, &err, &dump))
		finish(dumps, err, &dump);
}

void dumps_close(struct dumps *dumps)
{
	dumps_look(dumps);
	answer_all(&dumps->waiting, "failed", "the session has ended");
	answer_all(&dumps->asking, "failed",
		   "the session has ended; its last profile is the answer");
	for (unsigned view = 0; view < DUMPS_VIEWS; view++)
		answer_all(&dumps->watching[view], "failed", "the session has ended");
}
