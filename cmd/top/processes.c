/* SPDX-License-Identifier: MIT */
/* processes.c - see processes.h. */
#include "processes.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control_socket.h"
#include "proc_file.h"
#include "processes_found.h"

#define SESSIONS_MAX 1024

uint64_t process_resident(const struct process *process)
{
	return process->looks ? process->resident[(process->looks - 1) % PROCESSES_LOOKS] : 0;
}

void process_note(struct process *process, uint64_t resident, uint64_t time_ns)
{
	const size_t at = process->looks++ % PROCESSES_LOOKS;
	const size_t oldest =
		process->looks < PROCESSES_LOOKS ? 0 : process->looks % PROCESSES_LOOKS;

	process->resident[at] = resident;
	process->time_ns[at] = time_ns;
	const double seconds = (double)(time_ns - process->time_ns[oldest]) / 1e9;
	process->growth =
		seconds > 0 ? ((double)resident - (double)process->resident[oldest]) / seconds : 0;
}

static struct process *find(struct processes *processes, pid_t pid)
{
	for (size_t i = 0; i < processes->count; i++)
		if (processes->process[i].pid == pid)
			return &processes->process[i];
	return NULL;
}

/* NULL = out of memory. */
static struct process *add(struct processes *processes, pid_t pid)
{
	if (processes->count == processes->room) {
		const size_t room = 2 * processes->room + 64;
		struct process *grown = realloc(processes->process, room * sizeof(*grown));

		if (!grown)
			return NULL;
		processes->process = grown;
		processes->room = room;
	}
	struct process *process = &processes->process[processes->count++];
	*process = (struct process){.pid = pid};
	return process;
}

static int look_at(struct processes *processes, pid_t pid, uint64_t time_ns)
{
	struct process_found found;

	if (process_found_read(pid, &found))
		return 0;
	struct process *process = find(processes, pid);
	if (!process)
		process = add(processes, pid);
	if (!process)
		return -ENOMEM;
	if (process->start_ticks != found.start_ticks)
		*process = (struct process){.pid = pid, .start_ticks = found.start_ticks};
	memcpy(process->comm, found.comm, sizeof(process->comm));
	process->uid = found.uid;
	process->is_seen = true;
	process_note(process, found.resident_bytes, time_ns);
	return 0;
}

static void drop_gone(struct processes *processes)
{
	size_t kept = 0;

	for (size_t i = 0; i < processes->count; i++)
		if (processes->process[i].is_seen)
			processes->process[kept++] = processes->process[i];
	processes->count = kept;
}

static void note_sessions(struct processes *processes)
{
	static pid_t attached[SESSIONS_MAX];
	const size_t count = control_socket_list(0, attached, SESSIONS_MAX);

	for (size_t i = 0; i < count; i++) {
		struct process *process = find(processes, attached[i]);

		if (process)
			process->is_attached = true;
	}
}

static int compare(const void *left, const void *right)
{
	const struct process *a = left, *b = right;
	const uint64_t most_a = process_resident(a), most_b = process_resident(b);

	if (a->growth != b->growth)
		return a->growth > b->growth ? -1 : 1;
	return most_a != most_b ? (most_a > most_b ? -1 : 1) : a->pid - b->pid;
}

int processes_look(struct processes *processes, uint64_t time_ns)
{
	DIR *proc = opendir(PROC_DIRECTORY);
	int err = proc ? 0 : -errno;

	for (size_t i = 0; i < processes->count; i++)
		processes->process[i].is_seen = processes->process[i].is_attached = false;
	for (pid_t pid; !err && (pid = proc_next(proc));)
		err = look_at(processes, pid, time_ns);
	if (proc)
		closedir(proc);
	drop_gone(processes);
	note_sessions(processes);
	if (processes->count)
		qsort(processes->process, processes->count, sizeof(*processes->process), compare);
	return err;
}

void processes_close(struct processes *processes)
{
	free(processes->process);
	*processes = (struct processes){0};
}
