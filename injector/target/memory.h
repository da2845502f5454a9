/* SPDX-License-Identifier: MIT */
/*
 * The room target/: what can be seen of a process, and changed in it, without stopping any of its threads.
 *
 *   memory.h           its memory, by /proc/PID/mem: enter here
 *   procfs.h           status, mappings (maps.c) and threads, by /proc; proc_file.h reads one such file whole
 *   same_memory.h      do two processes share their memory; memory_sharers.h: all threads that run in it
 *   blocked.h          why a thread cannot stop just now
 *   snapshot.h         state of a process before and after, compared; pages.h: which pages hold anything
 *   fault.h, steps.h   for tests: each operation can be made to fail; a bound for walks over data of the target
 *
 * Uses arch/ and include/ only. All that is read here may be written by a hostile program: bounded, checked, believed by nobody.
 */

/*
 * memory.h - reading and writing the target's memory from outside.
 *
 * One descriptor on /proc/PID/mem, opened once: it stays bound to the address space of that moment, so after an exec every access fails with
 * -ESRCH instead of reaching a stranger. Writes ignore page protections (RELRO pages included) and never change them; where the kernel does not let this file
 * do that, they go through `force`. A running thread may see any write half done (patch.h). Nothing here stops the target. All functions return 0 or a
 * negative errno; out-parameters are untouched on failure.
 */
#ifndef HI_MEMORY_H
#define HI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define must_check __attribute__((warn_unused_result))

/* An address in the target. Never a pointer here; never dereferenced. */
typedef uint64_t remote_addr;

struct memory {
	pid_t pid;
	int fd;
	pid_t tid; /* the thread it was opened through: its /proc entries work where a zombie leader's do not */
	/* WITNESS_BYTES that stand nowhere else in any memory (AT_RANDOM); 0: not known. memory_open leaves it to whoever needs it. */
	remote_addr witness;
	/* Writes what may be read but not written: see force_write.h. NULL: such a write fails with -EFAULT. memory_open leaves it to whoever has it. */
	int (*force)(const struct memory *memory, remote_addr to, const void *from, size_t size);
};

/* tid may be any live thread of the target: a zombie leader has no memory of its own. -EACCES, -ESRCH as /proc gives them. */
must_check int memory_open(struct memory *memory, pid_t pid, pid_t tid);
void memory_close(struct memory *memory);

/* All or nothing. -EFAULT: not mapped (also in part); -ESRCH: the address space is gone (exit or exec). */
must_check int memory_read(const struct memory *memory, remote_addr from, void *into, size_t size);
must_check int memory_write(const struct memory *memory, remote_addr to, const void *from, size_t size);
must_check int memory_read_u64(const struct memory *memory, remote_addr from, uint64_t *out_value);
must_check int memory_write_u64(const struct memory *memory, remote_addr to, uint64_t value);

/* True if the address space of memory_open still exists. */
int memory_is_alive(const struct memory *memory);

/*
 * False: that thread of the process runs in other memory. The process has replaced its program, and others live on in the memory that it had, which is why
 * memory_is_alive says nothing of that. True also where it cannot be told.
 */
bool memory_is_of(const struct memory *memory, pid_t tid);
#define WITNESS_BYTES 16

#endif
