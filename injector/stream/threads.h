/* SPDX-License-Identifier: MIT */
/*
 * threads.h - the target's threads as the payload knows them, by thread pointer, given numbers, and tids and names where they can be found.
 *
 * glibc keeps a thread's tid at a fixed distance from its thread pointer and exports that distance for debuggers (_thread_db_pthread_tid: three 32-bit words:
 * bits, count, offset). What is read there is only believed if /proc lists such a task. Elsewhere threads stay nameless.
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

#define THREADS_RENAMED_AT_ONCE 64 /* how many threads one look for new names takes in */

struct threads {
	pid_t pid;
	int64_t tid_offset;  /* from the thread pointer; -1 = unknown */
	struct thread *slot; /* open addressing, pointer 0 = free */
	size_t room, count;
	uint32_t last_number; /* more than count where threads were followed by others at the same pointer */
	size_t looked_at;     /* slots before this one were looked at for new names this round */
};

must_check int threads_open(struct threads *threads, pid_t pid, const struct elf_images *images, const struct memory *memory);
void threads_close(struct threads *threads);
/*
 * A thread that goes by another name than when it was last seen: many give themselves one only once they have allocated. Or another thread, under a number
 * of its own, than was last seen behind that pointer: stacks are used again. Looks at some threads a call, one after the other, and starts over with the
 * call after that which returned NULL. Valid until the next call of either.
 */
const struct thread *threads_renamed(struct threads *threads, const struct memory *memory);
/* The thread behind a pointer; *out_is_new if it was not known. More than any process can have share number 0. -ENOMEM. Valid until the next call. */
must_check int threads_get(struct threads *threads, const struct memory *memory, uint64_t pointer, const struct thread **out_thread, bool *out_is_new);

#endif
