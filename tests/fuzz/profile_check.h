/* SPDX-License-Identifier: MIT */
/*
 * profile_check.h - what must hold of any profile, however hostile the file that it was read from.
 */
#ifndef PROFILE_CHECK_H
#define PROFILE_CHECK_H

#include <errno.h>
#include <zlib.h>

#include "fuzz.h"
#include "heapfile.h"
#include "leaks.h"
#include "pprof.h"

struct totals {
	uint64_t alloc_count, alloc_bytes, inuse_count, inuse_bytes;
};

static inline struct totals add_up(const struct profile *profile)
{
	struct totals sum = {0};

	for (size_t i = 0; i < profile->row_count; i++) {
		sum.alloc_count += profile->row[i].alloc_count;
		sum.alloc_bytes += profile->row[i].alloc_bytes;
		sum.inuse_count += profile->row[i].inuse_count;
		sum.inuse_bytes += profile->row[i].inuse_bytes;
	}
	return sum;
}

/* Where rows are divided among threads, nothing is left over. */
static inline void check_parts(const struct profile *profile)
{
	const struct totals all = add_up(profile);
	struct totals sum = {0};

	for (size_t i = 0; i < profile->breakdown.count; i++) {
		const struct part *part = &profile->breakdown.part[i];

		FUZZ_CHECK(part->row < profile->row_count &&
			   (!part->thread || part->thread < profile->breakdown.thread_count));
		sum.alloc_count += part->alloc_count;
		sum.alloc_bytes += part->alloc_bytes;
		sum.inuse_count += part->inuse_count;
		sum.inuse_bytes += part->inuse_bytes;
	}
	FUZZ_CHECK(!profile->breakdown.count || !memcmp(&sum, &all, sizeof(sum)));
}

/* Of whatever histories there are something is made, and it is a number. */
static inline void check_leaks(const struct profile *profile)
{
	const struct leaks_tail tail = {.share = LEAKS_TAIL_SHARE};
	struct stack_text text;
	struct leaks leaks = {0};

	if (stack_text_open(profile, &text) == 0 && leaks_open(&text, &tail, &leaks) == 0) {
		FUZZ_CHECK(leaks.growing_count <= leaks.count);
		for (size_t i = 0; i < leaks.count; i++) {
			const struct leak *leak = &leaks.leak[i];

			FUZZ_CHECK(leak->stack < profile->stack_count && leak->bytes.value > 0 &&
				   leak->trend.verdict < TREND_VERDICTS);
			FUZZ_CHECK(leak->trend.slope_low <= leak->trend.slope &&
				   leak->trend.slope <= leak->trend.slope_high);
		}
	}
	leaks_close(&leaks);
	stack_text_close(&text);
}

/* Every index leads somewhere. */
static inline void check_indices(const struct profile *profile)
{
	for (size_t i = 0; i < profile->frame_count; i++)
		FUZZ_CHECK(profile->frame[i].module >= -1 &&
			   profile->frame[i].module < (int64_t)profile->module_count);
	for (size_t i = 0; i < profile->stack_count; i++)
		for (uint32_t k = 0; k < profile->stack[i].frame_count; k++)
			FUZZ_CHECK(profile->stack[i].frame[k] < profile->frame_count);
	for (size_t i = 0; i < profile->row_count; i++)
		FUZZ_CHECK(profile->row[i].key.stack < profile->stack_count &&
			   profile->row[i].inuse_count <= profile->row[i].alloc_count);
	check_parts(profile);
	check_leaks(profile);
}

/* What we write we can read, and nothing is lost on the way. */
static inline void check_heapfile(const struct profile *profile)
{
	const struct totals before = add_up(profile);
	struct profile copy;
	struct input input;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	FUZZ_CHECK(out);
	heapfile_write(profile, out);
	FUZZ_CHECK(!fclose(out) && !profile_open(&copy));
	FUZZ_CHECK(!input_open(&input, fuzz_file((const uint8_t *)text, size)));
	if (heapfile_read(&input, &copy) || copy.meta.damage) {
		fprintf(stderr, "%s\n%s", copy.meta.damage ? copy.meta.damage : "unreadable", text);
		abort();
	}
	const struct totals after = add_up(&copy);
	FUZZ_CHECK(!memcmp(&before, &after, sizeof(before)));
	input_close(&input);
	profile_close(&copy);
	free(text);
}

/* One field of a protocol buffer, [at, end); returns where the next one begins. */
static inline const uint8_t *skip_field(const uint8_t *at, const uint8_t *end)
{
	uint64_t number[2] = {0}; /* key; value or length */

	for (int i = 0; i < 2; i++) {
		unsigned shift = 0;

		do {
			FUZZ_CHECK(at < end && shift < 64);
			number[i] |= (uint64_t)(*at & 0x7f) << shift;
			shift += 7;
		} while (*at++ & 0x80);
	}
	FUZZ_CHECK(number[0] >> 3 && ((number[0] & 7) == 0 || (number[0] & 7) == 2));
	if ((number[0] & 7) == 0)
		return at;
	FUZZ_CHECK(number[1] <= (uint64_t)(end - at));
	return at + number[1];
}

/* The pprof profile is gzip, and inside it a well-formed message. */
static inline void check_pprof(const struct profile *profile)
{
	static uint8_t plain[8 << 20];
	char *packed;
	size_t size;
	FILE *out = open_memstream(&packed, &size);

	FUZZ_CHECK(out && !pprof_write(profile, out) && !fclose(out));
	z_stream stream = {.next_in = (uint8_t *)packed,
			   .avail_in = (uInt)size,
			   .next_out = plain,
			   .avail_out = sizeof(plain)};
	FUZZ_CHECK(inflateInit2(&stream, 15 + 16) == Z_OK &&
		   inflate(&stream, Z_FINISH) == Z_STREAM_END);
	for (const uint8_t *at = plain; at < stream.next_out;)
		at = skip_field(at, stream.next_out);
	inflateEnd(&stream);
	free(packed);
}

#endif
