/* SPDX-License-Identifier: MIT */
/*
 * read_pprof_samples.h - the state of read_pprof.c when it reads the samples of a profile.proto,
 * and how these become rows of the profile.
 */
#ifndef HI_READ_PPROF_SAMPLES_H
#define HI_READ_PPROF_SAMPLES_H

#include "estimate.h"
#include "mapping_rows.h"
#include "pool_rows.h"
#include "read_pprof_tables.h"

#define PPROF_VALUES_MAX 64u /* sample types of one file */
#define PPROF_COMMENTS_MAX 64u
#define PPROF_FRAMES_MAX 65536u

/* Rows beside those of blocks. */
enum pprof_side { PPROF_MAPPINGS, PPROF_POOLED, PPROF_SIDES };

struct pprof_reader {
	struct profile *profile;
	struct pprof_tables tables;
	const uint8_t *bytes;
	size_t size;
	uint64_t type[PPROF_VALUES_MAX], unit[PPROF_VALUES_MAX]; /* string numbers */
	size_t type_count;
	uint64_t comment[PPROF_COMMENTS_MAX]; /* string numbers */
	size_t comment_count;
	uint64_t default_type;             /* string number */
	uint64_t drop_frames, keep_frames; /* likewise */
	/* position of each type among a sample's values; -1 = none */
	int column[SAMPLE_TYPE_COUNT];
	int more[SAMPLE_TYPE_COUNT]; /* of another that is added to it; -1 = none */
	/* likewise, of those of mappings (mapping_types) and of blocks of pools (pool_types) */
	int side_column[PPROF_SIDES][SAMPLE_TYPE_COUNT];
	enum pprof_side adds;                  /* while columns are swapped: what is added */
	unsigned int shift[SAMPLE_TYPE_COUNT]; /* by which its unit is larger than a byte */
	uint64_t interval;                     /* of the rows */
	uint64_t *row_size; /* by row: bytes of each of its blocks, 0 = unknown */
	size_t size_count, size_capacity;
	bool has_threads;
	uint32_t frame[PPROF_FRAMES_MAX];
	unsigned char dropped[PPROF_FRAMES_MAX]; /* by frame, enum dropped_at */
};

static inline bool pprof_has(const struct pprof_reader *reader, enum sample_type type)
{
	return reader->column[type] >= 0;
}

/*
 * Takes the next number of a field, which is packed or a single number. At first *rest must be
 * protobuf_inside(field). Returns as protobuf_next_number().
 */
int pprof_numbers(const struct protobuf_field *field, struct protobuf_rest *rest,
		  uint64_t *out_value);
/*
 * True if it is a unit of sizes; then by which power of two it is larger than a byte: pprof takes
 * powers of 1024. Otherwise *out_shift is untouched.
 */
bool pprof_unit_shift(const char *unit, unsigned int *out_shift);
/* Reads a sample of the message. 0, -ENOMEM, or -EBADMSG: it makes no sense, and is left out. */
int pprof_read_sample(struct pprof_reader *reader, const struct protobuf_field *field);

#endif
