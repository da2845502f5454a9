/* SPDX-License-Identifier: MIT */
/* threads.c - see threads.h. */
#include "threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX (1u << 18) /* a hostile ring may contain any number of thread pointers */

int threads_open(struct threads *threads, pid_t pid, const struct elf_images *images,
		 const struct memory *memory)
{
	*threads = (struct threads){.pid = pid, .tid_offset = -1, .room = 256};
	remote_addr descriptor;
	uint32_t words[3];
	if (!elf_images_resolve(images, "_thread_db_pthread_tid", &descriptor, NULL) &&
	    !memory_read(memory, descriptor, words, sizeof(words)) && words[2] < 65536)
		threads->tid_offset = words[2];
	threads->slot = calloc(threads->room, sizeof(*threads->slot));
	return threads->slot ? 0 : -ENOMEM;
}

void threads_close(struct threads *threads)
{
	free(threads->slot);
	*threads = (struct threads){0};
}

static struct thread *slot_of(struct thread *slots, size_t room, uint64_t pointer)
{
	/*
	 * The highest bits of the product depend on all bits of the pointer. Thread pointers lie
	 * megabytes apart, so their low bits are alike.
	 */
	size_t i = (pointer * 0x9e3779b97f4a7c15ull) >> (64 - __builtin_ctzll(room));
	while (slots[i & (room - 1)].pointer && slots[i & (room - 1)].pointer != pointer)
		i++;
	return &slots[i & (room - 1)];
}

static int grow(struct threads *threads)
{
	const size_t room = threads->room * 2;
	struct thread *slots = calloc(room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < threads->room; i++)
		if (threads->slot[i].pointer)
			*slot_of(slots, room, threads->slot[i].pointer) = threads->slot[i];
	free(threads->slot);
	threads->slot = slots;
	threads->room = room;
	return 0;
}

/* True: the name has changed. */
static bool read_name(pid_t pid, struct thread *thread)
{
	struct proc_status status;
	if (proc_status_read(pid, thread->tid, &status) ||
	    !strncmp(thread->name, status.comm, sizeof(thread->name)))
		return false;
	for (size_t i = 0; i < sizeof(thread->name); i++)
		thread->name[i] = status.comm[i];
	return true;
}

/* The tid that is stored for a thread pointer; 0: none. */
static pid_t read_tid(const struct threads *threads, const struct memory *memory, uint64_t pointer)
{
	uint32_t tid;
	if (threads->tid_offset < 0 ||
	    memory_read(memory, pointer + (uint64_t)threads->tid_offset, &tid, sizeof(tid)))
		return 0;
	return (pid_t)tid;
}

static void identify(const struct threads *threads, const struct memory *memory,
		     struct thread *thread)
{
	const pid_t tid = read_tid(threads, memory, thread->pointer);
	struct proc_status status;
	if (!tid || proc_status_read(threads->pid, tid, &status))
		return;
	thread->tid = tid;
	for (size_t i = 0; i < sizeof(thread->name); i++)
		thread->name[i] = status.comm[i];
}

/* True: another thread now has this thread pointer, and it has received a number of its own. */
static bool was_followed(struct threads *threads, const struct memory *memory,
			 struct thread *thread)
{
	const pid_t tid = read_tid(threads, memory, thread->pointer);
	struct thread next = {.pointer = thread->pointer};
	if (!tid || tid == thread->tid || threads->last_number >= THREADS_MAX)
		return false;
	identify(threads, memory, &next);
	if (!next.tid || next.tid == thread->tid)
		return false;
	next.number = ++threads->last_number;
	*thread = next;
	return true;
}

int threads_get(struct threads *threads, const struct memory *memory, uint64_t pointer,
		const struct thread **out_thread, bool *out_is_new)
{
	if (!pointer)
		pointer = 1; /* 0 marks a free slot; no thread has either pointer */
	struct thread *thread = slot_of(threads->slot, threads->room, pointer);
	const bool is_new = !thread->pointer;
	if (is_new && threads->last_number >= THREADS_MAX) {
		static const struct thread one_too_many;
		*out_thread = &one_too_many;
		*out_is_new = false;
		return 0;
	}
	if (is_new && threads->count * 2 >= threads->room) {
		int err = grow(threads);
		if (err)
			return err;
		thread = slot_of(threads->slot, threads->room, pointer);
	}
	if (is_new) {
		*thread = (struct thread){.pointer = pointer, .number = ++threads->last_number};
		threads->count++;
		identify(threads, memory, thread);
	}
	*out_thread = thread;
	*out_is_new = is_new;
	return 0;
}

const struct thread *threads_renamed(struct threads *threads, const struct memory *memory)
{
	for (size_t looks = 0;
	     threads->looked_at < threads->room && looks < THREADS_RENAMED_AT_ONCE;) {
		struct thread *thread = &threads->slot[threads->looked_at++];
		if (!thread->pointer)
			continue;
		looks++;
		if (was_followed(threads, memory, thread) ||
		    (thread->tid && read_name(threads->pid, thread)))
			return thread;
	}
	if (threads->looked_at == threads->room)
		threads->looked_at = 0;
	return NULL;
}
