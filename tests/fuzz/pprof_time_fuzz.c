/* SPDX-License-Identifier: MIT */
/*
 * pprof_time_fuzz.c - profiles that get another time before they are pushed: what the analyzer has
 * written may be anything. The input is a message, which is packed first, as no change of a packed
 * one would get through its checksum. What was given a time is given another one, and then differs
 * in nothing else.
 *
 * libFuzzer: -max_len=4096
 */
#include <zlib.h>

#include "fuzz.h"
#include "pprof_time.h"

static size_t pack(const uint8_t *data, size_t size, uint8_t out[8192])
{
	z_stream stream = {.next_in = (uint8_t *)data,
			   .avail_in = (uInt)size,
			   .next_out = out,
			   .avail_out = 8192};

	FUZZ_CHECK(deflateInit2(&stream, 0, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	FUZZ_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
	deflateEnd(&stream);
	return stream.total_out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pprof_time one = {1, 2}, other = {300, UINT64_MAX};
	static uint8_t packed[8192];
	uint8_t *first, *second, *third;
	size_t first_size, second_size, third_size;

	if (!pprof_time_set(data, size, one, &first, &first_size))
		free(first);
	if (pprof_time_set(packed, pack(data, size, packed), one, &first, &first_size))
		return 0;
	FUZZ_CHECK(!pprof_time_set(first, first_size, other, &second, &second_size));
	FUZZ_CHECK(!pprof_time_set(second, second_size, one, &third, &third_size));
	FUZZ_CHECK(first_size == third_size && !memcmp(first, third, first_size));
	free(first);
	free(second);
	free(third);
	return 0;
}
