/* SPDX-License-Identifier: MIT */
/*
 * pprof_time.c - see pprof_time.h. Appending the two numbers would do for protobuf, where the last
 * one holds, but Go's reader of profiles refuses a second time as the sign of a second profile. So
 * the fields of the message are copied, all but these.
 */
#include "pprof_time.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "gzip.h"

#define NUMBERS_MAX 32u /* bytes of the two new fields */

enum { PROFILE_TIME = 9, PROFILE_DURATION = 10 }; /* profile.proto */
enum { WIRE_NUMBER = 0, WIRE_8_BYTES = 1, WIRE_BYTES = 2, WIRE_4_BYTES = 5 };

/* ---- the message ----------------------------------------------------------------------------- */

/* Reads a number and moves on. False: it does not end. */
static bool get_number(const uint8_t **at, const uint8_t *end, uint64_t *out_number)
{
	*out_number = 0;
	for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
		const uint8_t byte = *(*at)++;

		*out_number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Moves over one field. False: it is none. */
static bool skip_field(const uint8_t **at, const uint8_t *end, uint64_t *out_key)
{
	uint64_t size = 0;

	if (!get_number(at, end, out_key))
		return false;
	switch (*out_key & 7) {
	case WIRE_NUMBER:
		return get_number(at, end, &size);
	case WIRE_8_BYTES:
		size = 8;
		break;
	case WIRE_4_BYTES:
		size = 4;
		break;
	case WIRE_BYTES:
		if (!get_number(at, end, &size))
			return false;
		break;
	default:
		return false;
	}
	if (size > (uint64_t)(end - *at))
		return false;
	*at += size;
	return true;
}

static size_t put_number(uint8_t *bytes, uint64_t number)
{
	size_t size = 0;

	do {
		bytes[size] = (uint8_t)(number & 0x7f);
		number >>= 7;
		bytes[size++] |= number ? 0x80 : 0;
	} while (number);
	return size;
}

static size_t put_field(uint8_t *bytes, unsigned field, uint64_t number)
{
	const size_t size = put_number(bytes, field << 3 | WIRE_NUMBER);

	return size + put_number(bytes + size, number);
}

/* Moves all other fields together, in their order. Returns their size, or -EBADMSG. */
static ssize_t drop_times(uint8_t *bytes, size_t size)
{
	const uint8_t *at = bytes, *const end = bytes + size;
	size_t kept = 0;
	uint64_t key;

	while (at < end) {
		const uint8_t *const begin = at;

		if (!skip_field(&at, end, &key))
			return -EBADMSG;
		if (key >> 3 == PROFILE_TIME || key >> 3 == PROFILE_DURATION)
			continue;
		memmove(bytes + kept, begin, (size_t)(at - begin));
		kept += (size_t)(at - begin);
	}
	return (ssize_t)kept;
}

int pprof_time_set(const void *profile, size_t size, struct pprof_time time, uint8_t **out_bytes,
		   size_t *out_size)
{
	uint8_t *bytes;
	size_t unpacked;
	int err = gzip_unpack(profile, size, &bytes, &unpacked);

	if (err)
		return err;
	const ssize_t kept = drop_times(bytes, unpacked);
	uint8_t *const larger = kept < 0 ? NULL : realloc(bytes, (size_t)kept + NUMBERS_MAX);
	err = kept < 0 ? (int)kept : larger ? 0 : -ENOMEM;
	if (larger) {
		size_t end = (size_t)kept;

		end += put_field(larger + end, PROFILE_TIME, time.unix_ns);
		end += put_field(larger + end, PROFILE_DURATION, time.duration_ns);
		err = gzip_pack(larger, end, out_bytes, out_size);
	}
	free(larger ? larger : bytes);
	return err;
}
