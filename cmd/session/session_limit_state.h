/* SPDX-License-Identifier: MIT */
/* session_limit_state.h - what session_limit.h keeps, as a part of struct session. */
#ifndef HI_SESSION_LIMIT_STATE_H
#define HI_SESSION_LIMIT_STATE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "limit_watch.h"
#include "memory_watch.h"

struct session_limit {
	bool is_open;
	struct memory_watch memory;
	struct limit_watch watch;
	/* when figures, which limit it is, and kills of others were looked at */
	uint64_t looked_ns, found_ns, outlived_ns;
	uint64_t armed; /* bytes of usage that wake */
	bool is_pressed, is_woken;
	bool is_hurrying; /* this process and the analyzer have priority for a moment */
	int nice;         /* what they have else */
	/* of profiles: how much of the limit was in use, in percent, when they were begun */
	double begun_percent, last_percent;
	unsigned written;         /* how many there were, as of the last look */
	char last_path[PATH_MAX]; /* of the last that was whole while the process lived */
	bool was_killed;          /* at the end: by the OOM killer */
};

#endif
