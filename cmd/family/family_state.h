/* SPDX-License-Identifier: MIT */
/* family_state.h - what `attach --all` and `--follow-fork` hold, for the files that do it. */
#ifndef HI_FAMILY_STATE_H
#define HI_FAMILY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "children.h"
#include "clock.h"
#include "descendants.h"
#include "family_options.h"
#include "member.h"
#include "progress.h"

struct family {
	const struct family_options *options;
	struct members all;
	uint64_t began_ns;
	int signal_fd;
	bool is_ending;
	bool is_end_noted; /* of a program that was started */
	struct children children;
	struct descendants descendants;
	struct progress progress;
};

/* What is left of the time of all. UINT64_MAX: it has no end. */
static inline uint64_t family_left_ns(const struct family *family)
{
	const uint64_t elapsed_ns = clock_now_ns() - family->began_ns,
		       duration_ns = family->options->session->duration_ns;

	if (!duration_ns)
		return UINT64_MAX;
	return duration_ns > elapsed_ns ? duration_ns - elapsed_ns : 0;
}

#endif
