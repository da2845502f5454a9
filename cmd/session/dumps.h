/* SPDX-License-Identifier: MIT */
/*
 * dumps.h - the dumps of a session, profiles that are written before it ends: when a dump is due,
 * which clients wait for it, and the messages about it.
 *
 * There is one dump at a time. If a dump fails, that is reported and the session goes on; the next
 * dump is tried when it is due.
 */
#ifndef HI_DUMPS_H
#define HI_DUMPS_H

#include "hi_dump.h"
#include "progress.h"
#include "push.h"
#include "sink.h"

#define DUMPS_CLIENTS_MAX 8

/* What can be shown to a client. */
enum dumps_view {
	DUMPS_PROFILE, /* the .heap */
	DUMPS_STACKED, /* the sampled live blocks and their stacks (hi_block.h) */
	DUMPS_VIEWS
};

struct dump_clients {
	int connection[DUMPS_CLIENTS_MAX];
	size_t count;
};

struct dumps {
	struct sink *sink;
	struct progress *progress;
	struct push *push; /* set by the caller after dumps_open; NULL = nothing is pushed */
	uint64_t unix_ns;  /* when the figures of the dump that was begun last were taken */
	uint64_t every_ns; /* 0 = only when asked for */
	uint64_t due_ns, begun_ns;
	uint32_t wanted;  /* triggers that have fired and wait for the pending dump */
	uint32_t trigger; /* those of the dump that was begun last: bits of enum hi_dump_trigger */
	bool is_pending;
	bool is_time; /* one is due by every_ns */
	/* clients that wait for the next dump, and for the pending one */
	struct dump_clients asking, waiting;
	/* the same of clients to which something is shown; waiting has those of all kinds */
	struct dump_clients watching[DUMPS_VIEWS];
	bool is_shown; /* the pending dump goes to memory and to such clients */
	unsigned written;
	/* path of the first dump's .heap; "" = there is none, or it was removed */
	char first_path[PATH_MAX];
	char last_path[PATH_MAX]; /* of the newest; "" = there is none */
};

void dumps_open(struct dumps *dumps, struct sink *sink, struct progress *progress,
		uint64_t every_ns);
/*
 * A client asks for a dump. dumps.c owns the connection from here on, and answers on it as
 * control_socket.h says; on success the answer is two lines, the paths.
 */
void dumps_ask(struct dumps *dumps, int connection);
/*
 * The same of a client to which the view is shown: it gets no file, but a descriptor of memory
 * beside "ok" (control_socket.h). Such a dump has no number and is not counted.
 */
void dumps_show(struct dumps *dumps, enum dumps_view view, int connection);
/* Bits of enum hi_dump_trigger; the dump is begun as soon as none is pending. */
void dumps_want(struct dumps *dumps, uint32_t triggers);
/* Whether a dump must be begun now. Times are nanoseconds since the session began. */
bool dumps_is_due(struct dumps *dumps, uint64_t now_ns);
/*
 * To be called before the DUMP record is written, which has dumps->trigger. On failure the record
 * must not be written.
 */
must_check int dumps_begin(struct dumps *dumps, uint64_t now_ns);
/*
 * Reports a dump that has ended, if there is one, to the user and to the clients that wait for it.
 */
void dumps_look(struct dumps *dumps);
/*
 * To be called when the session is over and its final files have been written: answers the clients
 * that still wait.
 */
void dumps_close(struct dumps *dumps);

#endif
