/* SPDX-License-Identifier: MIT */
/*
 * Room stream/: the record stream (hi_stream.h) played into a profile. Start at replay.h.
 * records.h checks each record. live.h has the live blocks; stack_ids.h and modules.h have the
 * stacks and modules that the stream numbered. Uses model/, io/, text/.
 */

/*
 * replay.h - a record stream played into a profile: what was allocated on which stack, and what of
 * it is live at the end.
 */
#ifndef HI_REPLAY_H
#define HI_REPLAY_H

#include "hi_stream.h"
#include "input.h"
#include "live.h"
#include "profile.h"

enum replay_kind { REPLAY_ALLOC, REPLAY_FREE, REPLAY_UNFREE };

/* One record or event, as it is in the stream; its times, too, whatever RESET there was. */
struct replay_event {
	enum replay_kind kind;
	uint16_t function; /* of ALLOC: enum hi_function */
	uint32_t thread;
	uint64_t time_ns, address;
	uint64_t bytes, interval; /* of ALLOC */
	uint64_t freed_ns; /* of ALLOC: when it is freed, or REPLAY_LIVES: an event says it */
};
#define REPLAY_LIVES UINT64_MAX

/*
 * Callbacks at every STATS, DUMP and LEAKED record, during the replay: the profile is complete up
 * to that record. And one at the end of the stream, be it cut off. May be NULL.
 */
struct replay_observer {
	void (*on_stats)(void *context, struct profile *profile, uint64_t bad_records);
	/* may fill the lines of the profile's frames; NULL = DUMP records are skipped */
	void (*on_dump)(void *context, struct profile *profile, const struct live *live,
			uint32_t triggers);
	/* a DUMP record of HI_DUMP_BLOCKS, and a LEAKED record; both NULL = they are skipped */
	void (*on_blocks)(void *context, const struct profile *profile, const struct live *live);
	int (*on_leaked)(void *context, const struct profile *profile, const struct live *live,
			 const struct hi_stream_leaked *leaked);
	void (*on_end)(void *context, struct profile *profile, const struct live *live);
	/*
	 * every allocation and free that makes sense, before it is counted; NULL = none. An error
	 * ends the replay, and is what replay_stream() returns
	 */
	int (*on_event)(void *context, const struct replay_event *event);
	void *context;
};

/*
 * Reads the stream to its end into an empty, open profile. 0, -ENOMEM, or -EBADMSG if there is
 * nothing to show, not even a header. Damage further on is no error: what was good is in the
 * profile, and meta.damage says what the first damage was.
 */
int replay_stream(struct input *input, const struct replay_observer *observer,
		  struct profile *profile);

#endif
