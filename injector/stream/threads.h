/* SPDX-License-Identifier: MIT */
/*
 * threads.h - the target's threads. The payload identifies them by thread pointer; here they get
 * numbers, and tids and names where these can be found.
 *
 * glibc keeps a thread's tid at a fixed distance from its thread pointer and exports that distance
 * for debuggers (_thread_db_pthread_tid: three 32-bit words: bits, count, offset). A tid that is
 * read there is believed only if /proc lists such a task. With other C libraries threads have no
 * names.
 */
#ifndef HI_THREADS_H
#define HI_THREADS_H

#include "elf_images.h"

struct thread {
	uint64_t pointer;
	uint32_t number; /* dense from 1 */
	pid_t tid;       /* 0 = not found */
	char name[16];
};

#define THREADS_RENAMED_AT_ONCE 64 /* number of threads that one pass for new names examines */

struct threads {
	pid_t pid;
	int64_t tid_offset;  /* from the thread pointer; -1 = unknown */
	struct thread *slot; /* open addressing, pointer 0 = free */
	size_t room, count;
	/* more than count if a thread was followed by another at the same pointer */
	uint32_t last_number;
	size_t looked_at; /* slots before this one were examined for new names in this round */
};

must_check int threads_open(struct threads *threads, pid_t pid, const struct elf_images *images,
			    const struct memory *memory);
void threads_close(struct threads *threads);
/*
 * Returns a thread whose name has changed since it was last seen (many threads set their name only
 * after their first allocation), or a different thread at a known pointer (stacks are reused), with
 * a number of its own. Each call examines some threads, in turn; the call after the one that
 * returned NULL starts over. Valid until the next call of either function.
 */
const struct thread *threads_renamed(struct threads *threads, const struct memory *memory);
/*
 * The thread with this thread pointer; *out_is_new if it was not known. Threads beyond the number
 * that any process can have share number 0. -ENOMEM. Valid until the next call.
 */
must_check int threads_get(struct threads *threads, const struct memory *memory, uint64_t pointer,
			   const struct thread **out_thread, bool *out_is_new);

#endif
