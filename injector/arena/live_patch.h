/* SPDX-License-Identifier: MIT */
/*
 * live_patch.h - words changed whole while the target runs (patch.h): a borrowed thread stores them, by hi_store_words of the payload.
 *
 * Each is stored only if it still holds what it was seen to hold. Read-only pages (RELRO) are made writable for some microseconds, and what the journal says of
 * them is enough to close them should we die meanwhile. Where no thread can be borrowed, or a page not be opened, all threads are stopped and the words
 * written from outside.
 */
#ifndef HI_LIVE_PATCH_H
#define HI_LIVE_PATCH_H

#include "payload_image.h"
#include "remote.h"
#include "patch.h"

struct live_patch_target {
	pid_t pid, tid; /* tid: through which /proc is read */
	const struct memory *memory;
	const struct remote_gadgets *gadgets;
	const struct payload_image *payload;
	remote_addr payload_base;
	remote_addr state; /* struct hi_state */
};

/* For how long, 0 = not at all. */
struct live_patch_held {
	uint64_t one_ns; /* the borrowed thread */
	uint64_t all_ns; /* all threads, where that was needed */
};

/*
 * Runs work(patcher, context) with a patcher that is fit for a running target; once more with another if the first could not change all. So work must go by
 * what is still to be done. The result is that of work, or what kept us: -EAGAIN: no thread could be borrowed, nor all of them stopped. out_held_ns: for how
 * long a thread was held.
 */
must_check int live_patch_do(const struct live_patch_target *target, int (*work)(const struct patcher *patcher, void *context), void *context,
			struct live_patch_held *out_held);

#endif
