/* SPDX-License-Identifier: MIT */
/*
 * thread_breakdown.h - which thread allocated what. A part is what one thread has in one row of the
 * profile.
 *
 * Bounded whatever the target does. The first BREAKDOWN_THREADS_MAX threads are told apart. Further
 * threads of one name count as one, for BREAKDOWN_NAMES_MAX names. After BREAKDOWN_PARTS_MAX parts,
 * what is new belongs to no particular thread. Every allocation is in one part, so the parts of a
 * row add up to it. Zero-initialized = empty.
 */
#ifndef HI_THREAD_BREAKDOWN_H
#define HI_THREAD_BREAKDOWN_H

#include "hi_stream.h"
#include "table.h"

#define BREAKDOWN_THREADS_MAX 1024u
#define BREAKDOWN_NAMES_MAX 1024u
#define BREAKDOWN_PARTS_MAX (1u << 17)

struct part_thread {
	char *name;   /* NULL = unknown; raw bytes of the target */
	uint32_t tid; /* 0 = unknown, or several */
};
struct part {
	uint32_t row;
	uint32_t thread; /* index into thread[]; 0 = no particular thread */
	uint64_t alloc_count, alloc_bytes, inuse_count, inuse_bytes;
	uint64_t resident_bytes, swapped_bytes; /* as in struct profile_row */
};
struct thread_breakdown {
	struct part *part;
	size_t count, capacity;
	struct part_thread *thread; /* [0] is nobody */
	size_t thread_count, thread_capacity;
	uint32_t *thread_of; /* by number in the stream: index into thread[] */
	size_t number_count, number_capacity;
	size_t name_count;
	struct table index, names;
};

/* Applies a sound THREAD record: the thread has that name from now on. 0 or -ENOMEM. */
int thread_breakdown_name(struct thread_breakdown *breakdown,
			  const struct hi_stream_thread *record);
/* The part in a row of the thread with this number in the stream. 0 or -ENOMEM. */
int thread_breakdown_at(struct thread_breakdown *breakdown, uint32_t row, uint32_t number,
			uint32_t *out_part);
/*
 * For files, which name threads but do not number them: the thread's index into thread[], 0 if
 * there are too many threads. name may be NULL; it is copied. 0 or -ENOMEM.
 */
int thread_breakdown_thread(struct thread_breakdown *breakdown, const char *name, uint32_t tid,
			    uint32_t *out_thread);
/* The part in a row of a thread, by its index. 0 or -ENOMEM. */
int thread_breakdown_of(struct thread_breakdown *breakdown, uint32_t row, uint32_t thread,
			uint32_t *out_part);
/* Removes all parts; the threads stay. */
void thread_breakdown_forget(struct thread_breakdown *breakdown);
void thread_breakdown_close(struct thread_breakdown *breakdown);

#endif
