/* SPDX-License-Identifier: MIT */
/*
 * Room target/: what can be read of a process, and changed in it, without stopping any of its
 * threads.
 *
 *   memory.h           its memory, through /proc/PID/mem: start here; memory_copy.h: a copy of it
 *   look.h             is what was read of it still the same?
 *   procfs.h           status, mappings (maps.c) and threads, from /proc
 *   proc_file.h        paths of /proc, and one whole file of it in memory
 *   same_memory.h      do two processes share their memory?
 *   roots.h            files by their path, in its root or in ours
 *   memory_sharers.h   all threads that run in the target's memory
 *   blocked.h          why a thread cannot stop at the moment; freezer.h: as it is frozen
 *   snapshot.h         state of a process before and after, compared
 *   pages.h            which pages hold data
 *   fault.h            for tests: makes each operation fail
 *   steps.h            a bound for walks over data of the target
 *   kernel_flags.h     flags that the headers of older C libraries lack
 *
 * Uses arch/ and include/ only. A hostile program may have written all that is read here: every
 * read is bounded and checked.
 */

/*
 * memory.h - reading and writing the target's memory from outside.
 *
 * One descriptor on /proc/PID/mem, opened once. It stays bound to the address space of that moment,
 * so after an exec every access fails with -ESRCH instead of reaching the new program. Writes
 * ignore page protections (RELRO pages included) and never change them; where the kernel does not
 * let this file do that, they go through `force`. A running thread may see any write half done
 * (patch.h). Nothing here stops the target. All functions return 0 or a negative errno;
 * out-parameters are untouched on failure.
 */
#ifndef HI_MEMORY_H
#define HI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "must_check.h"

/* An address in the target. Never a pointer here; never dereferenced. */
typedef uint64_t remote_addr;

struct memory_copy;

struct memory {
	pid_t pid;
	int fd;
	/*
	 * Reads are answered from it as far as it goes (memory_copy.h). NULL: there is none.
	 * memory_open does not set it; the owner of such a copy does.
	 */
	const struct memory_copy *copy;
	/*
	 * the thread through which it was opened: its /proc entries work even when the leader is a
	 * zombie
	 */
	pid_t tid;
	/*
	 * Address of WITNESS_BYTES random bytes that occur in no other address space (AT_RANDOM);
	 * 0: not known. memory_open does not set it; the user of it does.
	 */
	remote_addr witness;
	/*
	 * Writes to pages that are readable but not writable: see force_write.h. NULL: such a write
	 * fails with -EFAULT. memory_open does not set it; the owner of such a function does.
	 */
	int (*force)(const struct memory *memory, remote_addr to, const void *from, size_t size);
};

/*
 * tid may be any live thread of the target: a zombie leader has no memory of its own. Returns
 * -EACCES and -ESRCH as /proc gives them.
 */
must_check int memory_open(struct memory *memory, pid_t pid, pid_t tid);
/* The same, for reading alone: memory_write fails. */
must_check int memory_open_to_read(struct memory *memory, pid_t pid, pid_t tid);
void memory_close(struct memory *memory);

/*
 * All or nothing. -EFAULT: not mapped (also in part); -ESRCH: the address space is gone (exit or
 * exec).
 */
must_check int memory_read(const struct memory *memory, remote_addr from, void *into, size_t size);
/*
 * The same, in half the time where it is much. memory->tid has to be in that address space: after
 * an exec in a process that shares its memory with others this reads what is there now.
 */
must_check int memory_read_much(const struct memory *memory, remote_addr from, void *into,
				size_t size);
/*
 * Many small pieces by few system calls, as memory_read_much. A piece that cannot be read has
 * is_read false. -ESRCH: the address space is gone.
 */
struct memory_piece {
	remote_addr from;
	void *into;
	size_t size;
	bool is_read;
};
must_check int memory_read_pieces(const struct memory *memory, struct memory_piece *piece,
				  size_t count);
must_check int memory_write(const struct memory *memory, remote_addr to, const void *from,
			    size_t size);
must_check int memory_read_u64(const struct memory *memory, remote_addr from, uint64_t *out_value);
must_check int memory_write_u64(const struct memory *memory, remote_addr to, uint64_t value);

/* True if the address space of memory_open still exists. */
int memory_is_alive(const struct memory *memory);

/*
 * False: that thread of the process runs in another address space. The process has executed a new
 * program, while other processes still use its old memory; memory_is_alive cannot detect that case.
 * True also where it cannot be determined.
 */
bool memory_is_of(const struct memory *memory, pid_t tid);
#define WITNESS_BYTES 16

#endif
