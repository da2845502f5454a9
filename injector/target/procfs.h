/* SPDX-License-Identifier: MIT */
/*
 * procfs.h - facts about a process from /proc, without touching the process.
 *
 * All functions return 0 or a negative errno. Anything read here may be out of date when the call
 * returns.
 */
#ifndef HI_PROCFS_H
#define HI_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "memory.h"
#include "memory_copy.h"

struct mapping {
	remote_addr lo, hi;
	uint64_t file_offset;
	uint64_t device; /* makedev(major, minor) */
	uint64_t inode;
	bool readable, writable, executable, shared;
	/* points into maps.paths; "" if anonymous; a suffix " (deleted)" is removed, see deleted */
	const char *path;
	bool deleted;
};

struct maps {
	struct mapping *mapping; /* sorted by lo */
	size_t count;
	char *text; /* the file as read, for MAPPED_LIBRARIES */
	size_t text_size;
	char *paths; /* owned storage of the paths */
};

/* Reads /proc/PID/task/TID/maps. maps_close frees, and may be called on a zeroed struct. */
must_check int maps_read(pid_t pid, pid_t tid, struct maps *out_maps);
/* Those of this memory: as its copy has them, if it has one. */
must_check int maps_of(const struct memory *memory, struct maps *out_maps);
void maps_close(struct maps *maps);
/*
 * The parser of maps_read. Copies text. Skips lines that are malformed or overlap the one before.
 */
must_check int maps_parse(const char *text, size_t size, struct maps *out_maps);
const struct mapping *maps_find(const struct maps *maps, remote_addr address);
/*
 * The end of the highest mapping of the program's half of all addresses; 0: it has none. How many
 * bits addresses have depends on the CPU, its kernel, and what the program has asked for.
 */
remote_addr maps_end(const struct maps *maps);
/* Could they be one mapping: parts of one file, side by side there and in memory, as accessible? */
bool mapping_continues(const struct mapping *first, const struct mapping *then);

struct proc_status {
	char comm[16];
	char state; /* R S D T t Z X I */
	pid_t tgid, ppid, tracer;
	uid_t uid_real, uid_effective, uid_saved;
	gid_t gid_real, gid_effective, gid_saved;
	uint64_t sig_pending, sig_shared_pending, sig_blocked, sig_ignored, sig_caught;
	uint64_t cap_effective, cap_permitted;
	int seccomp; /* 0 none, 1 strict, 2 filter */
	bool no_new_privs;
	unsigned threads;
	pid_t ns_pid; /* last number of NSpid: the pid as the target sees it */
	uint64_t size_bytes, resident_bytes, locked_bytes; /* size: of the address space in use */
	uint64_t anonymous_bytes; /* resident or swapped; 0 before Linux 4.5 */
	uint64_t writable_bytes;  /* private writable mappings, without the stack */
	uint64_t switches;        /* how often the thread was taken off a CPU, voluntarily or not */
	uint64_t waits;           /* of these: how often because it waited, or was stopped */
	/* from the Kthread line; before Linux 6.8: no VmSize line and not a zombie */
	bool is_kernel_thread;
	bool shadow_stack; /* the thread has one: ARCH_SHADOW_STACK_WORD */
};
must_check int proc_status_read(pid_t pid, pid_t tid, struct proc_status *out_status);
/* The parser of proc_status_read; text is terminated. -EPROTO: not a status file. */
must_check int proc_status_parse(const char *text, struct proc_status *out_status);

/*
 * Field 22 of /proc/PID/stat: clock ticks since boot; together with the pid it names one process.
 */
must_check int proc_start_time(pid_t pid, uint64_t *out_ticks);
/* utime + stime of the whole process, nanoseconds. */
must_check int proc_cpu_time(pid_t pid, uint64_t *out_ns);
/*
 * Field `number` (as numbered in proc(5), from 4 on) of the text of a stat file; comm may contain
 * anything. -EPROTO: no such field.
 */
must_check int proc_stat_field(const char *text, unsigned number, uint64_t *out_value);
/* One entry of the auxiliary vector (AT_...). -ENOENT: not there. */
must_check int proc_auxv(pid_t pid, pid_t tid, uint64_t type, uint64_t *out_value);

/* Thread ids of the process, ascending; caller frees. */
must_check int proc_tasks(pid_t pid, pid_t **out_tids, size_t *out_count);
/*
 * Does the thread have memory, or may it have some? Exited threads and kernel threads have none.
 * tid 0: the process.
 */
bool proc_has_memory(pid_t pid, pid_t tid);
/* A thread of the process that has memory, the first one if that has; 0: none. */
pid_t proc_thread_with_memory(pid_t pid);
/* Number of open descriptors. */
must_check int proc_fd_count(pid_t pid, size_t *out_count);

/* /proc/PID/task/TID/syscall: what a thread is blocked in, without stopping it. */
struct proc_syscall {
	bool running; /* then nothing else is known */
	long number;  /* -1: blocked, but not in a system call */
	uint64_t argument[6];
	remote_addr sp, pc;
};
must_check int proc_syscall_read(pid_t pid, pid_t tid, struct proc_syscall *out_syscall);
/* The parser of proc_syscall_read; text is terminated. -EPROTO: not a syscall file. */
must_check int proc_syscall_parse(const char *text, struct proc_syscall *out_syscall);

/*
 * The third field of /proc/PID/task/TID/schedstat: how often the thread was given a CPU so far. 0:
 * the kernel does not tell (it needs CONFIG_SCHED_INFO).
 */
uint64_t proc_turns(pid_t pid, pid_t tid);
/*
 * The first field: nanoseconds on a CPU so far. Of a thread that has one, it may be late by a tick.
 */
uint64_t proc_run_ns(pid_t pid, pid_t tid);

/*
 * Where the stacks of all threads end: of those of a copy, if the memory has one, or else of those
 * that wait. The caller frees the list.
 */
must_check int proc_stack_pointers(const struct memory *memory, struct stack_pointer **out_thread,
				   size_t *out_count);

#endif
