/* SPDX-License-Identifier: MIT */
/*
 * live_patch.h - changes whole words while the target runs (patch.h): a borrowed thread stores
 * them, by calling hi_store_words of the payload.
 *
 * Each word is stored only if it still holds its expected value. Read-only pages (RELRO) are made
 * writable for some microseconds; if the injector dies meanwhile, the journal holds what is needed
 * to make them read-only again. Where no thread can be borrowed, or a page cannot be made writable,
 * all threads are stopped and the words are written from outside.
 */
#ifndef HI_LIVE_PATCH_H
#define HI_LIVE_PATCH_H

#include "payload_image.h"
#include "remote.h"
#include "patch.h"

struct live_patch_target {
	pid_t pid, tid; /* tid: a thread through which /proc is read */
	const struct memory *memory;
	const struct remote_gadgets *gadgets;
	const struct payload_image *payload;
	remote_addr payload_base;
	remote_addr state; /* struct hi_state */
};

/* How long threads were held, 0 = not at all. */
struct live_patch_held {
	uint64_t one_ns; /* the borrowed thread */
	uint64_t all_ns; /* all threads, where that was needed */
};

/*
 * Runs work(patcher, context) with a patcher for a running target, and once more with a patcher for
 * a stopped one if the first could not change everything. So work must act on what remains to be
 * done each time. Returns the result of work, or an error of its own: -EAGAIN: no thread could be
 * borrowed, nor all of them stopped. out_held: how long threads were held.
 */
must_check int live_patch_do(const struct live_patch_target *target,
			     int (*work)(const struct patcher *patcher, void *context),
			     void *context, struct live_patch_held *out_held);

#endif
