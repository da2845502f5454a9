/* SPDX-License-Identifier: MIT */
/*
 * read_file.h - bytes in memory, read as a file is by the table of readers; and what has to hold of
 * them wherever they are cut.
 */
#ifndef HI_READ_FILE_H
#define HI_READ_FILE_H

#include <errno.h>

#include "estimate.h"
#include "reader.h"
#include "stream_file.h"
#include "unit.h"

static inline int read_bytes(const void *bytes, size_t size, struct profile *out_profile)
{
	FILE *file = memory_file();
	int err;

	CHECK(fwrite(bytes, 1, size, file) == size);
	fflush(file);
	lseek(fileno(file), 0, SEEK_SET);
	CHECK_EQ(profile_open(out_profile), 0);
	err = reader_read(fileno(file), out_profile);
	fclose(file);
	return err;
}

static inline int read_string(const char *text, struct profile *out_profile)
{
	return read_bytes(text, strlen(text), out_profile);
}

static inline double total_of(const struct profile *profile, enum sample_type type)
{
	return estimate_total(profile, type).value;
}

/*
 * Cut at any byte it is read as far as it goes, and says so; cut after `from` bytes something is
 * left to show.
 */
static inline void check_cuts(const void *bytes, size_t size, size_t from)
{
	for (size_t cut = 0; cut < size; cut++) {
		struct profile profile;
		const int err = read_bytes(bytes, cut, &profile);

		CHECK(err == 0 || err == -EBADMSG || err == -ENODATA || err == -ENOEXEC);
		if (err == 0 || err == -EBADMSG)
			CHECK(profile.meta.damage != NULL);
		if (cut >= from && (err || !profile.row_count))
			UNIT_FAIL("cut at %zu of %zu: error %d, %zu rows", cut, size, err,
				  profile.row_count);
		profile_close(&profile);
	}
}

/* Any byte may be any other. */
static inline void check_damage_anywhere(const void *bytes, size_t size)
{
	static const unsigned char values[] = {0, '\n', ' ', ';', '9', 'f', 0x80, 0xff};
	unsigned char *copy = malloc(size);
	struct profile profile;

	memcpy(copy, bytes, size);
	for (size_t at = 0; at < size; at++) {
		for (size_t i = 0; i < sizeof(values); i++) {
			const unsigned char kept = copy[at];

			copy[at] = values[i];
			const int err = read_bytes(copy, size, &profile);
			CHECK(err == 0 || err == -EBADMSG || err == -ENOEXEC);
			profile_close(&profile);
			copy[at] = kept;
		}
	}
	free(copy);
}

static inline const char *leaf_name(const struct profile *profile, size_t row)
{
	const struct profile_stack *stack = &profile->stack[profile->row[row].key.stack];

	return stack->frame_count && profile->frame[stack->frame[0]].line_count
		       ? profile->frame[stack->frame[0]].line[0].function
		       : NULL;
}

#endif
