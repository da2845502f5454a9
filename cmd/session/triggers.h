/* SPDX-License-Identifier: MIT */
/*
 * triggers.h - what makes a session write a profile before its end, by amounts of memory and by a
 * signal; --every is in dumps.h, and limits of memory are in limit_watch.h.
 *
 * triggers_look() compares figures with thresholds, and knows of no process. Each trigger that has
 * fired gives one dump, also if its threshold was exceeded several times since the last look. Every
 * dump brings new figures, which may make the next one due: so what goes by amounts of blocks rests
 * after each. What has come due meanwhile is one dump after that.
 */
#ifndef HI_TRIGGERS_H
#define HI_TRIGGERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "hi_dump.h"
#include "limit_watch.h"

/* 0 = not asked for, in all of them. */
struct trigger_options {
	uint64_t every_ns;    /* from one dump to the next */
	uint64_t alloc_bytes; /* allocated between two dumps */
	uint64_t peak_bytes;  /* by which what is in use exceeds the highest dumped so far */
	uint64_t rss_bytes;   /* that the resident memory exceeds */
	uint32_t rss_ppm;     /* the same, as millionths of the limit */
	int signal;
	struct limit_options limit; /* limit_watch.h, and session_limit.h, look at it */
};

#define TRIGGERS_TEXT_MAX 384u

/* "USR1", "SIGUSR2", "RTMIN+3", "RTMAX-1", "40". 0, or -EINVAL: no signal that is free for this. */
int triggers_parse_signal(const char *text, int *out_signal);
/* "512M", "80%". 0 or negative errno, as hi_units.h; sets one of the two fields of options. */
int triggers_parse_rss(const char *text, struct trigger_options *options);
bool triggers_are_any(const struct trigger_options *options);
/* "--every 5m --on-signal USR1": the options, as they can be given. Returns text. */
const char *triggers_describe(const struct trigger_options *options, char text[TRIGGERS_TEXT_MAX]);

/* Between two dumps by amounts that were allocated or are in use. */
#define TRIGGERS_REST_NS 250000000ull

struct trigger_figures {
	uint64_t now_ns; /* since the session began */
	/* since the session began, as estimated; has_blocks: they are known */
	uint64_t allocated_bytes, inuse_bytes;
	bool has_blocks;
	uint64_t resident_bytes; /* of the process; 0 = not known */
	bool has_signal;         /* the signal has come since the last look */
};

struct triggers {
	const struct trigger_options *options;
	uint64_t alloc_due;  /* bytes */
	uint64_t dumped;     /* the most that was in use at a dump */
	uint64_t rss_limit;  /* bytes; 0 = none, or it was exceeded */
	uint64_t inuse_last; /* as of the last look */
	uint64_t rests_until_ns;
};

/* memory_limit: what a percentage of --at-rss is of, in bytes. */
void triggers_open(struct triggers *triggers, const struct trigger_options *options,
		   uint64_t memory_limit);
/* Whether figures must be looked at often. */
bool triggers_need_figures(const struct triggers *triggers);
/* Returns the bits of enum hi_dump_trigger whose dump is due now. */
uint32_t triggers_look(struct triggers *triggers, const struct trigger_figures *figures);
/* A dump was begun, of whatever trigger. */
void triggers_dumped(struct triggers *triggers);
/* The profile begins anew: thresholds count from here, but that of the resident memory. */
void triggers_reset(struct triggers *triggers);

#endif
