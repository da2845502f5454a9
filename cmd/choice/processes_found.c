/* SPDX-License-Identifier: MIT */
/* processes_found.c - see processes_found.h. */
#include "processes_found.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "procfs.h"
#include "same_memory.h"

int process_found_read(pid_t pid, struct process_found *out_process)
{
	struct proc_status status;
	uint64_t start_ticks;

	if (pid == getpid() || proc_status_read(pid, 0, &status) || !status.resident_bytes ||
	    proc_start_time(pid, &start_ticks))
		return -ESRCH;
	*out_process = (struct process_found){.pid = pid,
					      .start_ticks = start_ticks,
					      .resident_bytes = status.resident_bytes,
					      .uid = status.uid_effective};
	memcpy(out_process->comm, status.comm, sizeof(out_process->comm));
	return 0;
}

bool process_found_is_there(const struct process_found *process)
{
	struct process_found now;

	return !process_found_read(process->pid, &now) && now.start_ticks == process->start_ticks;
}

int processes_found_add(struct processes_found *found, pid_t pid)
{
	struct process_found process;

	if (process_found_read(pid, &process))
		return 0;
	if (found->count == found->room) {
		const size_t room = 2 * found->room + 16;
		struct process_found *grown = realloc(found->process, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		found->process = grown;
		found->room = room;
	}
	found->process[found->count++] = process;
	return 0;
}

/* Without kcmp, a child that was forked just now might look the same. */
static void drop_sharers_of(struct processes_found *found, size_t first)
{
	struct same_memory_reference reference;
	size_t kept = first + 1;

	if (same_memory_open(found->process[first].pid, &reference) || !reference.has_kcmp)
		return;
	for (size_t i = kept; i < found->count; i++)
		if (same_memory_ask(&reference, found->process[i].pid) != SAME_MEMORY_YES)
			found->process[kept++] = found->process[i];
	found->count = kept;
}

void processes_found_drop_sharers(struct processes_found *found)
{
	for (size_t i = 0; i + 1 < found->count; i++)
		drop_sharers_of(found, i);
}

void processes_found_close(struct processes_found *found)
{
	free(found->process);
	*found = (struct processes_found){0};
}
