/* SPDX-License-Identifier: MIT */
/*
 * thread_breakdown.h - which thread allocated what: a part is what one thread has in one row of the profile.
 *
 * Bounded whatever the target does: the first BREAKDOWN_THREADS_MAX threads are told apart; of the others those of one name count as one, for BREAKDOWN_NAMES_MAX
 * names; after BREAKDOWN_PARTS_MAX parts what is new belongs to no thread in particular. Every allocation is in one part, so the parts of a row add up to it.
 * Zero-initialized = empty.
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
	uint32_t thread; /* index into thread[]; 0 = none in particular */
	uint64_t alloc_count, alloc_bytes, inuse_count, inuse_bytes;
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

/* A sound THREAD record: the thread goes by that name from now on. 0 or -ENOMEM. */
int thread_breakdown_name(struct thread_breakdown *breakdown, const struct hi_stream_thread *record);
/* The part that the thread of that number in the stream has in a row. 0 or -ENOMEM. */
int thread_breakdown_at(struct thread_breakdown *breakdown, uint32_t row, uint32_t number, uint32_t *out_part);
/* Of files, which name threads and do not number them: index into thread[], 0 where there are too many. name may be NULL, and is copied. 0 or -ENOMEM. */
int thread_breakdown_thread(struct thread_breakdown *breakdown, const char *name, uint32_t tid, uint32_t *out_thread);
/* The part that a thread, by its index, has in a row. 0 or -ENOMEM. */
int thread_breakdown_of(struct thread_breakdown *breakdown, uint32_t row, uint32_t thread, uint32_t *out_part);
void thread_breakdown_close(struct thread_breakdown *breakdown);

#endif
