/* SPDX-License-Identifier: MIT */
/*
 * records_fuzz.c - the record stream: framing, replay, and both files that are written from it.
 *
 * libFuzzer: -max_len=4096
 */
#include "profile_check.h"
#include "replay.h"

static void on_stats(void *context, struct profile *profile, uint64_t bad_records)
{
	(void)context;
	(void)bad_records;
	check_indices(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct replay_observer observer = {.on_stats = on_stats};
	struct profile profile;
	struct input input;

	FUZZ_CHECK(!profile_open(&profile) && !input_open(&input, fuzz_file(data, size)));
	const int err = replay_stream(&input, &observer, &profile);
	FUZZ_CHECK(err == 0 || (err == -EBADMSG && profile.meta.damage));
	if (!err) {
		check_indices(&profile);
		check_heapfile(&profile);
		check_pprof(&profile);
	}
	input_close(&input);
	profile_close(&profile);
	return 0;
}
