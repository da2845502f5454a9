/* SPDX-License-Identifier: MIT */
/*
 * limit_watch.h - when a session writes profiles because memory comes to its limit (`heapinject
 * guard`): at shares of the limit and when processes begin to wait for memory, and when the limit
 * will be reached as memory grows now.
 *
 * It compares figures, and knows of no process and no file.
 */
#ifndef HI_LIMIT_WATCH_H
#define HI_LIMIT_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LIMIT_AT_MAX 16u
#define LIMIT_AT_DEFAULT "70%,80%,90%"

struct limit_options {
	uint32_t at_ppm[LIMIT_AT_MAX]; /* millionths of the limit, ascending */
	unsigned count;                /* 0 = the limit is not watched */
};

/* "70%,80%,90%", in any order. 0; -EINVAL, -ERANGE; -E2BIG: too many. */
int limit_parse_at(const char *text, struct limit_options *out_options);
/* "70%,80%,90%" */
void limit_describe_at(const struct limit_options *options, FILE *out);

/* A row of equally distant points in time, the newest last. */
#define LIMIT_POINTS 64u
struct limit_history {
	uint64_t period_ns;
	struct {
		uint64_t ns, used;
	} point[LIMIT_POINTS];
	size_t count;
};
/* Takes a point if one is due. */
void limit_history_add(struct limit_history *history, uint64_t now_ns, uint64_t used);
/* Bytes per second by least squares; 0 if there are too few points. */
double limit_history_slope(const struct limit_history *history);

struct limit_figures {
	uint64_t now_ns;
	uint64_t limit, used; /* bytes */
	uint64_t stalls;      /* how often the limit was reached, counts up */
	bool is_pressed;      /* processes have waited for memory since the last look */
};

struct limit_watch {
	const struct limit_options *options;
	struct limit_history fast, slow;
	struct limit_figures now;
	unsigned passed; /* of the options, from the lowest on */
	bool is_owed;    /* a profile of one that was passed was put off */
	/* set by the caller: how long the last profile took to be on the disk; 0 = there was none
	 */
	uint64_t write_ns;
	uint64_t stalls; /* as of the last look */
	bool has_stalls;
	uint64_t pressed_ns; /* when there was pressure last; 0 = never */
	uint32_t warned;     /* which of the forecasts were said */
};

void limit_watch_open(struct limit_watch *watch, const struct limit_options *options);
/* Returns the bits of enum hi_dump_trigger whose dump is due now. */
uint32_t limit_watch_look(struct limit_watch *watch, const struct limit_figures *figures);
/* The share of the limit that is in use, in percent. */
double limit_watch_percent(const struct limit_watch *watch);
/* Bytes that the next profile is written at; UINT64_MAX: all are passed. */
uint64_t limit_watch_next(const struct limit_watch *watch);
/*
 * Whether memory grows so that the limit comes into sight. out_ns: from now; out_slope: bytes per
 * second.
 */
bool limit_watch_forecast(const struct limit_watch *watch, uint64_t *out_ns, double *out_slope);
/* Whether the limit is so near that a profile has to hurry. */
bool limit_watch_is_near(const struct limit_watch *watch);
/* Whether the forecast has come below an hour, ten minutes, a minute: true once for each, until it
 * is far above that again. */
bool limit_watch_is_news(struct limit_watch *watch);

#endif
