/* SPDX-License-Identifier: MIT */
/*
 * stats.h - the figures of a session so far: what the payload counts, and what it costs the target.
 */
#ifndef HI_STATS_H
#define HI_STATS_H

#include "attachment.h"
#include "pump.h"

/*
 * status: the target's; zeros if it could not be read. cpu_before_ns: CPU time of the target when
 * the session began. Figures that cannot be read are 0.
 */
struct hi_stream_stats stats_read(const struct attachment *attachment, const struct pump *pump,
				  const struct proc_status *status, uint64_t cpu_before_ns);
/*
 * Only what the payload and the reader have counted, which is there when the process is not. The
 * rest of *stats stays.
 */
void stats_count(const struct attachment *attachment, const struct pump *pump,
		 struct hi_stream_stats *stats);

#endif
