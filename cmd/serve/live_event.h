/* SPDX-License-Identifier: MIT */
/*
 * live_event.h - what the live page is sent after each look at a session: one text, made once, that
 * all who watch share. It is a message of server-sent events whose data is an object in JSON:
 *
 *   time, every      Unix time of the look; seconds between two profiles that are kept
 *   profiles[]       the times of those, the oldest first
 *   look             status (of `status --json`), profile (hi_analyzer_live()); null = there is
 * none why              a text: why there is none isMissing        there is no session
 */
#ifndef HI_SERVE_LIVE_EVENT_H
#define HI_SERVE_LIVE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kept_profiles.h"

#define LIVE_LOOK_BYTES_MAX ((size_t)4 << 20)

struct live_event {
	size_t holders, size;
	char *text;
};

struct live_news {
	uint64_t time, every_s;
	const struct kept_profiles *kept;
	const char *look; /* JSON as a job has written it, or NULL */
	size_t look_size;
	const char *why; /* or NULL */
	size_t why_size;
	bool is_missing, may_steer;
};

/* With one holder. NULL = out of memory. */
struct live_event *live_event_make(const struct live_news *news);
struct live_event *live_event_hold(struct live_event *event);
/* NULL is fine. The last one who lets go frees it. */
void live_event_let_go(struct live_event *event);

#endif
