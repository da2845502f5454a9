/* SPDX-License-Identifier: MIT */
/*
 * session_state.h - what one run of `heapinject attach` holds, for the files that make up a
 * session: session_attach.c, session_begin.c, session_loop.c, session_end.c.
 */
#ifndef HI_SESSION_STATE_H
#define HI_SESSION_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "arena_resident.h"
#include "attach.h"
#include "control_socket.h"
#include "dumps.h"
#include "heap_looks.h"
#include "hi_analyzer.h"
#include "memory_limit.h"
#include "overhead.h"
#include "preflight.h"
#include "progress.h"
#include "pump.h"
#include "push.h"
#include "session.h"
#include "session_detached.h"
#include "session_limit_state.h"
#include "sink.h"

#define SECOND_NS 1000000000ull

/* For session_leaks.c. */
struct session_leaks {
	bool is_held, is_known;
	int err;    /* of the search */
	int missed; /* if it was not held: enum exit_watch_state */
};

struct session {
	const struct session_options *options;
	struct preflight preflight;
	struct named_functions named; /* of the options, with what is known of their arguments */
	struct sink sink;
	struct hi_analyzer_status status;
	bool has_status;
	struct attachment attachment;
	bool sees_mappings; /* they were asked for, and the functions that map are hooked */
	struct pump pump;
	struct overhead overhead;
	struct progress progress;
	struct session_detached detached;
	struct dumps dumps;
	struct push push;
	struct control_socket socket;
	/* connection of the client that asked for the detach and waits for the answer; -1 = none */
	int client;
	int signal_fd;
	int trigger_fd; /* of --on-signal; -1 = none */
	struct triggers triggers;
	struct session_limit guarded;
	struct session_leaks leaks;
	struct heap_looks heap;
	struct unsampled_frees frees;
	uint64_t frees_ns;         /* when they were written last */
	struct memory_limit limit; /* as of limit_ns */
	uint64_t limit_ns;
	struct arena_resident
		own; /* of the process's memory; is due to be read again at own_due_ns */
	uint64_t own_due_ns;
	uint32_t interval_shift; /* of the last INTERVAL record */
	bool has_chosen_rate;    /* the user has chosen it, and no budget changes it */
	bool is_paused;
	/* since the profile began: how long pauses took that are over */
	uint64_t paused_at_ns, paused_ns;
	uint32_t resets;     /* how many there were */
	uint64_t profile_ns; /* when the profile began: 0, or at the last reset */
	uint64_t sure_ns;    /* since when the answer is that something grows; 0 = it is not */
	uint64_t own_ns;     /* CPU time of injector, looks at the heap and analyzer since then */
	struct hi_stream_stats stats; /* as of stats_ns */
	uint64_t stats_ns, cpu_before_ns, own_before_ns, busy_rounds;
};

#endif
