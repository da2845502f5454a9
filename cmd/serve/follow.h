/* SPDX-License-Identifier: MIT */
/*
 * follow.h - the sessions that are served, and the profiles of each that are kept: one when it is
 * found, and one at every interval from then on. They are asked by jobs, like all else. While
 * somebody watches a session it is looked at more often, as often as takes a small part of a CPU,
 * and what is seen becomes an event (live_event.h).
 *
 * A session whose process has a new one begins anew; one that has ended keeps its profiles until
 * then.
 */
#ifndef HI_SERVE_FOLLOW_H
#define HI_SERVE_FOLLOW_H

#include <stdio.h>

#include "jobs.h"
#include "kept_profiles.h"
#include "live_event.h"

#define FOLLOW_MAX SERVE_PIDS_MAX
#define FOLLOW_BYTES_MAX (UINT64_C(256) << 20) /* of the profiles of all; the oldest ones go */

struct followed {
	struct follow *all;
	pid_t pid;                   /* 0 = this place is free */
	struct serve_look_head last; /* zeroed: it was not found yet */
	bool is_missing;             /* at the last look there was no session */
	bool is_looked_at;           /* a job is at it, */
	bool is_watched;             /* which is for those who watch, too, */
	uint64_t began_ns;           /* since then */
	uint64_t keep_ns;            /* when a profile is to be kept */
	struct kept_profiles kept;
	size_t watchers;
	uint64_t news_ns;         /* when those are to hear more */
	struct live_event *event; /* the last one; NULL = none yet */
	uint64_t event_number;    /* how many there were */
};

struct follow {
	const struct serve_options *options;
	struct serve_jobs *jobs;
	uint64_t find_ns; /* when to look for sessions, if none are named */
	bool is_finding;
	struct followed session[FOLLOW_MAX];
};

/* Begins with those that the options name. */
void follow_open(struct follow *follow, const struct serve_options *options,
		 struct serve_jobs *jobs);
/* Begins what is due. */
void follow_tick(struct follow *follow, uint64_t now_ns);
/*
 * The session of pid, or with 0 the first that is named, or the only one. NULL: there is none.
 */
struct followed *follow_find(struct follow *follow, pid_t pid);
/* How many sessions there are. */
size_t follow_count(const struct follow *follow);
/* As follow_find; with a pid that may be served there is always one, unless there are too many. */
struct followed *follow_get(struct follow *follow, pid_t pid);
/* Somebody new watches. */
void follow_want_news(struct followed *session, uint64_t now_ns);
/* It has begun or ended. */
void follow_look_now(struct followed *session);
/* Writes the kept profiles of a session as text. */
void follow_write_profiles(const struct followed *session, FILE *out);
void follow_close(struct follow *follow);

#endif
