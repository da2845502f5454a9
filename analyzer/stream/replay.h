/* SPDX-License-Identifier: MIT */
/*
 * The room stream/: the record stream (hi_stream.h) played into a profile. replay.h: enter here; records.h checks each record, live.h knows which blocks
 * live, stack_ids.h and modules.h what the stream numbered. Uses model/, io/, text/.
 */

/*
 * replay.h - a record stream played into a profile: what was allocated on which stack, and what of it is live at the end.
 */
#ifndef HI_REPLAY_H
#define HI_REPLAY_H

#include "input.h"
#include "profile.h"

/* Told of every STATS and DUMP record, in the middle of things: the profile is complete up to here. May be NULL. */
struct replay_observer {
	void (*on_stats)(void *context, const struct profile *profile, uint64_t bad_records);
	void (*on_dump)(void *context, struct profile *profile); /* may fill the lines of its frames; NULL = dumps are passed over */
	void *context;
};

/*
 * Reads the stream to its end into an empty, open profile. 0, -ENOMEM, or -EBADMSG when there is nothing to show, not even a header. Damage
 * further on is no error: what was good is in the profile, and meta.damage says what was wrong first.
 */
int replay_stream(struct input *input, const struct replay_observer *observer, struct profile *profile);

#endif
