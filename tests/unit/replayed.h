/* SPDX-License-Identifier: MIT */
/* replayed.h - streams with one module, and the profiles that they become, for tests of replay. */
#ifndef HI_TEST_REPLAYED_H
#define HI_TEST_REPLAYED_H

#include "replay.h"
#include "stream_file.h"
#include "stream_writer.h"
#include "unit.h"

#define REPLAYED_LO 0x400000u /* where the module begins; it is a page long */
/* stacks in it, leaf first */
static const uint64_t site_a[] = {REPLAYED_LO + 0x100, REPLAYED_LO + 0x200};
static const uint64_t site_b[] = {REPLAYED_LO + 0x300, REPLAYED_LO + 0x200};

/* What an event says: something at an address. kind: 0 = a free, EVENT_ALLOC = by malloc. */
#define EVENT_AT(address, kind) \
	((uint64_t)(address) | (uint64_t)(kind) << HI_STREAM_EVENT_ADDRESS_BITS)
#define EVENT_ALLOC (HI_FN_MALLOC + 1)

/* A stream with its header and the module, to which a test appends. */
static inline FILE *stream_begin(uint64_t interval)
{
	FILE *file = memory_file();

	stream_header(file, interval);
	stream_module(file, 1, REPLAYED_LO, REPLAYED_LO + 0x1000, "/opt/server");
	return file;
}

/* The profile of the stream so far; what replay_stream() returns. Closes the file. */
static inline int replayed(FILE *file, struct profile *profile)
{
	struct input input;
	int err;

	CHECK_EQ(profile_open(profile), 0);
	open_input_of(file, SIZE_MAX >> 1, &input);
	err = replay_stream(&input, NULL, profile);
	input_close(&input);
	fclose(file);
	return err;
}

/* The only part of a row that the thread of this name has (thread_breakdown.h). */
static inline const struct part *replayed_part(const struct profile *profile, const char *name)
{
	const struct part *found = NULL;

	for (size_t i = 0; i < profile->breakdown.count; i++) {
		const char *of = profile->breakdown.thread[profile->breakdown.part[i].thread].name;

		if (of && strcmp(of, name) == 0) {
			CHECK(!found);
			found = &profile->breakdown.part[i];
		}
	}
	CHECK(found != NULL);
	return found;
}

#endif
