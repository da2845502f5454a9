/* SPDX-License-Identifier: MIT */
/*
 * query.h - what stands behind the question mark of a request. Names are those of brpc's page and
 * of net/http/pprof:
 *
 *   view=TIME       the profile that was kept at this time (kept_profiles.h); without it, as it is
 *   base=TIME       less that one
 *   seconds=N       what changes within so long
 *   display_type=D  flame, text, tree, dot, collapsed, leaks, heap, pprof
 *   sample_type=T   inuse_space, inuse_objects, alloc_space, alloc_objects
 *   console=1       text, as for curl
 *
 * Others are not looked at, as tools send some of their own.
 */
#ifndef HI_SERVE_QUERY_H
#define HI_SERVE_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "route.h"

#define QUERY_SECONDS_MAX 3600u

struct query {
	uint64_t view, base; /* 0 = none is named */
	unsigned seconds;
	enum serve_page display; /* SERVE_NOTHING = none is named */
	const char *sample_type; /* the option of report; NULL = none is named */
	bool is_text;
};

/* value: NULL = there is none. Returns NULL, or what is wrong: a line. */
const char *query_take(struct query *query, const char *name, const char *value);

#endif
