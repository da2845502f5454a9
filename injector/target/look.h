/* SPDX-License-Identifier: MIT */
/*
 * look.h - whether words of the target are still what they were, by one system call.
 *
 * What is read through a look is remembered, with the bytes that were there. look_again reads all
 * of it again with process_vm_readv and compares. Nothing is derived from the second reading: if
 * any byte differs, or cannot be read, the caller has to read everything again in its own way. So a
 * look never decides that something changed, it only says when nothing did.
 *
 * process_vm_readv takes a thread's number, where memory.h has a descriptor that stays with the
 * address space. So each look begins with the witness (memory.h), which occurs in no other address
 * space: a thread that runs another program by now, or a later one with the same number, does not
 * have it. Without a witness nothing is ever the same.
 *
 * The kernel reads as the target could itself (no execute-only pages), and may forbid it where
 * /proc/PID/mem is open already: the result is the same as that of a change. Anonymous pages that
 * are still shared with a child after a fork are copied for the target by such a read, as they are
 * by its own next write to them.
 *
 * One thread at a time.
 */
#ifndef HI_LOOK_H
#define HI_LOOK_H

#include <stdbool.h>
#include <sys/uio.h>

#include "memory.h"

struct look {
	struct look_range {
		remote_addr at;
		size_t size, offset; /* bytes; where they are in bytes[] */
		size_t span_offset;  /* where they are in again[] */
	} * range;
	size_t count, room;
	uint8_t *bytes; /* what was there */
	size_t size, bytes_room;
	/*
	 * What is read again: ranges of one page together, as the kernel takes longer to find a
	 * page than to copy it. Made of the ranges by the first look_again.
	 */
	struct iovec *span;
	size_t span_count;
	uint8_t *again;
	size_t again_size;
	bool is_complete; /* all that was read is remembered */
};

/* Forgets everything that was remembered. A struct of zeros is such a look. */
void look_begin(struct look *look);
void look_close(struct look *look);
/*
 * Does what memory_read does, and remembers what was read. look may be NULL: only reads. A failed
 * read, or one for which there is no memory, makes the look incomplete: nothing is the same until
 * the next look_begin.
 */
must_check int look_read(struct look *look, const struct memory *memory, remote_addr from,
			 void *into, size_t size);
/* What was read may mean something else later, even if it is unchanged: makes the look incomplete.
 */
void look_spoil(struct look *look);
/*
 * 0: the thread memory->tid runs in the address space of `memory`, and all that was read since
 * look_begin is unchanged. -EAGAIN: something may be different. -ESRCH: that thread has ended.
 * Others: the kernel does not let us look in this way.
 */
must_check int look_again(struct look *look, const struct memory *memory);

#endif
