/* SPDX-License-Identifier: MIT */
/*
 * status_fields.h - how a session is going, as it answers a "status" request: lines "KEY VALUE".
 * Readers skip keys that they do not know, and take 0 or "" for those that are missing.
 */
#ifndef HI_STATUS_FIELDS_H
#define HI_STATUS_FIELDS_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "must_check.h"
#include "triggers.h"

struct status_fields {
	/* who runs it: not in the text, but known from its socket */
	uint64_t injector, uid;
	uint64_t is_elsewhere; /* 1 = in another mount namespace, in which it names files */
	uint64_t pid;
	uint64_t family; /* the process that has begun it with others (cmd/family/); 0 = none */
	uint64_t since_unix_ns, elapsed_ns, duration_ns; /* duration: 0 = until stopped */
	uint64_t interval;                               /* mean bytes between samples, now */
	uint64_t budget_ppm;                             /* 0 = none: the interval is fixed */
	uint64_t samples, inuse_bytes, allocated_bytes;
	uint64_t dropped;
	uint64_t payload_cpu_ns, target_cpu_ns, own_cpu_ns;
	uint64_t files_written; /* profiles so far; the end is another one */
	uint64_t keep;          /* 0 = all */
	uint64_t paused;        /* 1 = nothing is sampled now */
	uint64_t profile_ns;    /* the time that the profile is of: since the last reset */
	uint64_t paused_ns;     /* of that, how long nothing was sampled */
	uint64_t grows;         /* 1 = it is certain that something grows */
	/* bytes per second of all that grows, and its 95 % interval; 0 = nothing does */
	uint64_t slope, slope_low, slope_high;
	/* profiles that the server has taken, wholly or in part, and that wait for it */
	uint64_t pushed, push_waiting;
	uint64_t push_lost; /* that it will never get */
	uint64_t push_away; /* 1 = it takes none at present */
	/*
	 * What its allocators have by their own count, resident or swapped out: blocks in use,
	 * freed and kept, and how much of that a trim would give back; 0 while heap_of is ""
	 */
	uint64_t heap_used, heap_kept, heap_trim;
	char heap_of[128];     /* "glibc 2.36"; "" = nobody has looked yet */
	char heap_unread[128]; /* why the last look could not read it; "" = it could */
	char program[32];
	char push_url[PATH_MAX];   /* "" = nothing is pushed */
	char last_file[PATH_MAX];  /* .heap of the newest profile; "" = none yet */
	char final_file[PATH_MAX]; /* .heap of the end; its number may still rise */
	char triggers[TRIGGERS_TEXT_MAX];
};

#define STATUS_FIELDS_TEXT_MAX (16u << 10)

void status_fields_write(const struct status_fields *fields, FILE *out);
/*
 * text: as terminated as it comes from a session, which may be another user's. Strings become plain
 * text. 0, or -EPROTO: a number is none, or there is no pid.
 */
must_check int status_fields_read(const char *text, struct status_fields *out_fields);

#endif
