/* SPDX-License-Identifier: MIT */
/*
 * dumps.h - profiles that are written in the course of a session: when one is due, who waits for it, and what is said of it.
 *
 * One at a time. What goes wrong with one is told and ends nothing; the next one is tried when it is due.
 */
#ifndef HI_DUMPS_H
#define HI_DUMPS_H

#include "progress.h"
#include "sink.h"

#define DUMPS_CLIENTS_MAX 8

struct dump_clients {
	int connection[DUMPS_CLIENTS_MAX];
	size_t count;
};

struct dumps {
	struct sink *sink;
	struct progress *progress;
	uint64_t every_ns; /* 0 = only when asked for */
	uint64_t due_ns, begun_ns;
	bool is_pending;
	struct dump_clients asking, waiting; /* for the next one, for the one that is pending */
	unsigned written;
	char first_path[PATH_MAX]; /* of the first one's .heap; "" = there is none (any more) */
};

void dumps_open(struct dumps *dumps, struct sink *sink, struct progress *progress, uint64_t every_ns);
/* Somebody asks for one now. The connection is ours from here on; the answer is as control_socket.h says: on success two lines, the paths. */
void dumps_ask(struct dumps *dumps, int connection);
/* One is to be begun. Times are those of the session. */
bool dumps_is_due(struct dumps *dumps, uint64_t now_ns);
/* To be called before the DUMP record goes out, which it must not on failure. */
must_check int dumps_begin(struct dumps *dumps, uint64_t now_ns);
/* Tells of one that has come to its end, if any has. */
void dumps_look(struct dumps *dumps);
/* The session is over and its last files have been written: whoever still waits is told. */
void dumps_close(struct dumps *dumps);

#endif
