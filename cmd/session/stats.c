/* SPDX-License-Identifier: MIT */
/* stats.c - see stats.h. */
#include "stats.h"

#include "thread_table.h"

static uint64_t payload_cpu_ns(const struct attachment *attachment, const struct pump *pump)
{
	static struct inside inside;
	const struct hi_control *control = attachment->control;
	const remote_addr at = arena_state(control) + arena_state_layout(control).thread_slots;
	if (thread_table_read(&attachment->memory, at, &inside))
		return 0;
	return (uint64_t)((double)inside.cycles / (double)pump->cycles_per_second * 1e9);
}

void stats_count(const struct attachment *attachment, const struct pump *pump,
		 struct hi_stream_stats *stats)
{
	const struct hi_counters *counters = &attachment->arena.shared->counters;

	stats->samples = pump->reader.allocs;
	stats->frees = pump->reader.frees;
	stats->dropped_allocs = counters->dropped_allocs;
	stats->dropped_frees = counters->dropped_frees;
	stats->live_set_full = counters->live_set_full;
	stats->no_thread_slot = counters->no_thread_slot;
	stats->passed_bytes = counters->passed_bytes;
}

struct hi_stream_stats stats_read(const struct attachment *attachment, const struct pump *pump,
				  const struct proc_status *status, uint64_t cpu_before_ns)
{
	uint64_t cpu_ns = cpu_before_ns;
	(void)!proc_cpu_time(attachment->pid, &cpu_ns);
	struct hi_stream_stats stats = {
		.time_ns = pump_now_ns(pump),
		.payload_cpu_ns = payload_cpu_ns(attachment, pump),
		.target_cpu_ns = cpu_ns - cpu_before_ns,
		.resident_bytes = status->resident_bytes,
	};
	stats_count(attachment, pump, &stats);
	return stats;
}
