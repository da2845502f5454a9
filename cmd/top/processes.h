/* SPDX-License-Identifier: MIT */
/*
 * processes.h - the processes of this machine with the memory that they have, and how fast that
 * grows, as far as /proc has been looked at so far.
 */
#ifndef HI_TOP_PROCESSES_H
#define HI_TOP_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESSES_LOOKS 16u /* growth is that over so many looks */

struct process {
	pid_t pid;
	uint64_t start_ticks; /* with the pid it is one process */
	char comm[16];        /* may contain anything */
	uid_t uid;
	bool is_attached; /* a session of the caller is attached to it */
	bool is_seen;     /* at the last look */
	uint64_t resident[PROCESSES_LOOKS];
	uint64_t time_ns[PROCESSES_LOOKS]; /* of these */
	size_t looks;                      /* so far; the newest is at (looks - 1) % LOOKS */
	double growth;                     /* bytes per second; 0 after one look */
};

struct processes {
	struct process *process; /* those that grow fastest first, then the largest */
	size_t count, room;
};

/* Looks at /proc once more. time_ns: of any clock that only goes forwards. 0 or negative errno. */
int processes_look(struct processes *processes, uint64_t time_ns);
void processes_close(struct processes *processes);
uint64_t process_resident(const struct process *process);
/* Notes one more look at a process: what it has resident at that time. */
void process_note(struct process *process, uint64_t resident, uint64_t time_ns);

#endif
