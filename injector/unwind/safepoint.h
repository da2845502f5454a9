/* SPDX-License-Identifier: MIT */
/*
 * safepoint.h - may a stopped thread call dlopen or dlclose where it is?
 *
 * Only if the stack walk is complete and no frame is in the allocator's text (glibc: all of
 * malloc.o; other allocators: their whole object), in ld.so, or in dlopen, dlclose, dlsym,
 * dl_iterate_phdr, fork, exit, pthread_create. A frame in no known object is unsafe, too. And the
 * dynamic linker must be consistent.
 */
#ifndef HI_SAFEPOINT_H
#define HI_SAFEPOINT_H

#include "stackwalk.h"

struct safepoint_rules; /* the unsafe ranges of one target */
must_check int safepoint_rules_open(const struct elf_images *images, const struct memory *memory,
				    struct safepoint_rules **out_rules);
void safepoint_rules_close(struct safepoint_rules *rules);

enum safepoint_verdict {
	SAFEPOINT_SAFE = 0,
	SAFEPOINT_UNSAFE_FRAME,
	SAFEPOINT_UNKNOWN, /* walk incomplete, or a frame in no known object */
	SAFEPOINT_LOADER_BUSY,
};
enum safepoint_verdict safepoint_judge(const struct safepoint_rules *rules,
				       const struct stackwalk *walk);

/*
 * Finds a thread at a safe point and leaves it TRACEE_STOPPED: examines one thread after the other,
 * repeatedly, until the deadline. -EAGAIN: none was found, and every thread has been released. A
 * program that only loads libraries is hardly ever at a safe point.
 *
 * No thread is made to stop at a chosen place. The kernel can do that only with a signal; if the
 * injector were killed before it took that signal back, the signal would kill the target.
 */
must_check int safepoint_find(pid_t pid, const struct elf_images *images,
			      const struct memory *memory, int deadline_ms,
			      struct tracee *out_tracee);

#endif
