/* SPDX-License-Identifier: MIT */
/* read_pprof_samples.c - see read_pprof_samples.h. Start at pprof_read_sample(). */
#include "read_pprof_samples.h"

#include <errno.h>
#include <string.h>

#include "pprof_fields.h"
#include "read_common.h"
#include "scan.h"

#define SIDES 2

/* A sample, as the message has it. */
struct pprof_sample {
	uint32_t frame_count;
	int64_t value[PPROF_VALUES_MAX];
	size_t value_count;
	const char *thread; /* NULL = unknown */
	uint64_t tid;       /* 0 = unknown */
	uint64_t bytes;     /* of the size class; 0 = unknown */
	bool is_base;       /* of a comparison that pprof or we have written */
	struct label label[LABELS_MAX];
	size_t label_count;
};

bool pprof_unit_shift(const char *unit, unsigned int *out_shift)
{
	static const struct {
		const char *name[6];
		unsigned int shift;
	} units[] = {
		{{"b", "byte", "bytes", "", "", ""}, 0},
		{{"kb", "kib", "kbyte", "kilobyte", "kilobytes", "kbytes"}, 10},
		{{"mb", "mib", "mbyte", "megabyte", "megabytes", "mbytes"}, 20},
		{{"gb", "gib", "gbyte", "gigabyte", "gigabytes", "gbytes"}, 30},
		{{"tb", "tib", "tbyte", "terabyte", "terabytes", "tbytes"}, 40},
	};

	for (size_t i = 0; *unit && i < sizeof(units) / sizeof(units[0]); i++) {
		for (size_t k = 0; k < 6; k++) {
			if (strcasecmp(unit, units[i].name[k]) == 0) {
				*out_shift = units[i].shift;
				return true;
			}
		}
	}
	return false;
}

static void add_to_side(uint64_t *count_new, uint64_t *count_base, int64_t value)
{
	if (value >= 0)
		*count_new += (uint64_t)value;
	else
		*count_base += 0 - (uint64_t)value;
}

static int64_t value_in(const struct pprof_sample *sample, int column)
{
	if (column < 0 || (size_t)column >= sample->value_count)
		return 0;
	return sample->value[column];
}

static int64_t value_of(const struct pprof_reader *reader, const struct pprof_sample *sample,
			enum sample_type type)
{
	int64_t sum;

	return __builtin_add_overflow(value_in(sample, reader->column[type]),
				      value_in(sample, reader->more[type]), &sum) ||
			       __builtin_mul_overflow(sum, INT64_C(1) << reader->shift[type], &sum)
		       ? INT64_MAX
		       : sum;
}

/*
 * Makes the counts consistent: bytes need a block that has them, and what is in use was allocated.
 * Missing blocks are added on both sides, which changes no difference.
 */
static void complete_sides(struct profile_row side[SIDES])
{
	for (int i = 0; i < SIDES; i++) {
		if ((side[i].alloc_bytes && !side[i].alloc_count) ||
		    (side[i].inuse_bytes && !side[i].inuse_count)) {
			for (int k = 0; k < SIDES; k++) {
				side[k].inuse_count += side[i].inuse_bytes && !side[i].inuse_count;
				side[k].alloc_count++;
			}
		}
	}
	for (int i = 0; i < SIDES; i++) {
		const uint64_t missing = side[i].inuse_count > side[i].alloc_count
						 ? side[i].inuse_count - side[i].alloc_count
						 : 0;

		side[PROFILE_NEW].alloc_count += missing;
		side[PROFILE_BASE].alloc_count += missing;
	}
}

/*
 * Splits the values into the two sides; negative values belong to the base. If the file counts no
 * objects, one value stands for one block.
 */
static void split_sides(const struct pprof_reader *reader, const struct pprof_sample *sample,
			struct profile_row side[SIDES])
{
	struct profile_row *new = &side[PROFILE_NEW], *base = &side[PROFILE_BASE];

	add_to_side(&new->alloc_count, &base->alloc_count, value_of(reader, sample, ALLOC_OBJECTS));
	add_to_side(&new->alloc_bytes, &base->alloc_bytes, value_of(reader, sample, ALLOC_SPACE));
	add_to_side(&new->inuse_count, &base->inuse_count, value_of(reader, sample, INUSE_OBJECTS));
	add_to_side(&new->inuse_bytes, &base->inuse_bytes, value_of(reader, sample, INUSE_SPACE));
	add_to_side(&new->resident_bytes, &base->resident_bytes,
		    value_of(reader, sample, RESIDENT_SPACE));
	add_to_side(&new->swapped_bytes, &base->swapped_bytes,
		    value_of(reader, sample, SWAPPED_SPACE));
	for (int i = 0; i < SIDES; i++) {
		if (!pprof_has(reader, ALLOC_OBJECTS) && !pprof_has(reader, INUSE_OBJECTS)) {
			side[i].alloc_count = side[i].alloc_bytes != 0;
			side[i].inuse_count = side[i].inuse_bytes != 0;
		}
		if (!pprof_has(reader, ALLOC_OBJECTS) && !pprof_has(reader, ALLOC_SPACE)) {
			side[i].alloc_count = side[i].inuse_count;
			side[i].alloc_bytes = side[i].inuse_bytes;
		}
	}
	complete_sides(side);
}

static int thread_of(struct pprof_reader *reader, const struct pprof_sample *sample,
		     uint32_t *out_thread)
{
	*out_thread = 0;
	if (!sample->thread && !sample->tid)
		return 0;
	reader->has_threads = true;
	return thread_breakdown_thread(&reader->profile->breakdown, sample->thread,
				       sample->tid <= UINT32_MAX ? (uint32_t)sample->tid : 0,
				       out_thread);
}

static bool is_too_large(const struct profile_row *counts)
{
	return counts->alloc_count > INT64_MAX || counts->alloc_bytes > INT64_MAX ||
	       counts->inuse_count > INT64_MAX || counts->inuse_bytes > INT64_MAX ||
	       counts->resident_bytes > INT64_MAX || counts->swapped_bytes > INT64_MAX;
}

/* Keeps what the file says about the size of a row's blocks, for pprof_own_take_back(). */
static int note_size(struct pprof_reader *reader, uint32_t row, uint64_t bytes)
{
	while (reader->size_count <= row) {
		if (array_reserve(&reader->row_size, &reader->size_capacity, reader->size_count,
				  sizeof(*reader->row_size)))
			return -ENOMEM;
		reader->row_size[reader->size_count++] = 0;
	}
	reader->row_size[row] = bytes ? bytes : reader->row_size[row];
	return 0;
}

static int add_row(struct pprof_reader *reader, const struct profile_row_key *key,
		   const struct profile_row *counts, uint64_t bytes, uint32_t thread)
{
	struct profile *profile = reader->profile;
	uint32_t row;
	int err = read_add(profile, key, counts, &row);

	if (!err)
		err = note_size(reader, row, bytes);
	if (!err)
		profile->row[row].block_bytes = bytes ? bytes : PROFILE_NO_LABEL;
	return !err && thread ? read_add_part(profile, row, thread, counts) : err;
}

static int add_pooled(struct pprof_reader *reader, const struct profile_row_key *key,
		      const struct profile_row *counts, uint64_t bytes)
{
	uint32_t index;

	if (profile_pooled_at(reader->profile, key, &index))
		return -ENOMEM;
	reader->profile->pooled[index].block_bytes = bytes ? bytes : PROFILE_NO_LABEL;
	return read_add_counts(&reader->profile->pooled[index], counts);
}

static int add_mapping(struct pprof_reader *reader, const struct profile_row_key *key,
		       const struct profile_row *counts, uint64_t bytes)
{
	uint32_t index;

	if (profile_mapping_at(reader->profile, key, &index))
		return -ENOMEM;
	reader->profile->mapping[index].block_bytes = bytes ? bytes : PROFILE_NO_LABEL;
	return read_add_counts(&reader->profile->mapping[index], counts);
}

/* 0, -ENOMEM, or -EBADMSG: too large. */
static int add_sample(struct pprof_reader *reader, struct pprof_sample *sample)
{
	struct profile_row side[SIDES] = {{.alloc_count = 0}};
	struct profile_row_key key = {.interval = reader->interval};
	uint32_t thread;
	int err = 0;

	split_sides(reader, sample, side);
	for (int type = 0; type < SAMPLE_TYPE_COUNT && !sample->is_base; type++)
		reader->profile->meta.is_difference |=
			value_of(reader, sample, (enum sample_type)type) < 0;
	if (is_too_large(&side[PROFILE_NEW]) || is_too_large(&side[PROFILE_BASE]))
		return -EBADMSG;
	if (thread_of(reader, sample, &thread) ||
	    profile_stack_of(reader->profile, reader->frame, sample->frame_count, 0, &key.stack) ||
	    labels_add(&reader->profile->labels, sample->label, sample->label_count, &key.labels))
		return -ENOMEM;
	for (int i = 0; i < SIDES && !err; i++) {
		if (!side[i].alloc_count)
			continue;
		key.side = (enum profile_side)i;
		key.size_class = profile_read_size_class(
			sample->bytes ? sample->bytes : profile_block_bytes(&side[i]),
			key.interval);
		if (reader->adds == PPROF_MAPPINGS)
			err = add_mapping(reader, &key, &side[i], sample->bytes);
		else if (reader->adds == PPROF_POOLED)
			err = add_pooled(reader, &key, &side[i], sample->bytes);
		else
			err = add_row(reader, &key, &side[i], sample->bytes, thread);
	}
	return err == -ERANGE ? -EBADMSG : err;
}

int pprof_numbers(const struct protobuf_field *field, struct protobuf_rest *rest,
		  uint64_t *out_value)
{
	const uint8_t *const before = rest->at;

	if (field->bytes)
		return protobuf_next_number(rest, out_value);
	if (before) /* the one number was taken */
		return -ENODATA;
	rest->at = rest->end = (const uint8_t *)field;
	*out_value = field->value;
	return 0;
}

static int read_locations(struct pprof_reader *reader, const struct protobuf_field *field,
			  struct pprof_sample *sample)
{
	struct protobuf_rest rest = protobuf_inside(field);
	uint64_t id;
	int end;

	while (!(end = pprof_numbers(field, &rest, &id))) {
		if (sample->frame_count == PPROF_FRAMES_MAX ||
		    !pprof_frame(&reader->tables, id, &reader->frame[sample->frame_count],
				 &reader->dropped[sample->frame_count]))
			return -EBADMSG;
		sample->frame_count++;
	}
	return end == -ENODATA ? 0 : -EBADMSG;
}

static int read_values(const struct protobuf_field *field, struct pprof_sample *sample)
{
	struct protobuf_rest rest = protobuf_inside(field);
	uint64_t value;
	int end;

	while (!(end = pprof_numbers(field, &rest, &value))) {
		if (sample->value_count == PPROF_VALUES_MAX)
			return -EBADMSG;
		sample->value[sample->value_count++] = (int64_t)value;
	}
	return end == -ENODATA ? 0 : -EBADMSG;
}

static bool is_one_of(const char *key, const char *a, const char *b)
{
	return strcmp(key, a) == 0 || strcmp(key, b) == 0;
}

/* Takes a label that has a place of its own in the model; false: it has none. */
static bool take_known(struct pprof_sample *sample, const struct label *label)
{
	const char *text = label->text;
	uint64_t number = (uint64_t)label->number;

	if (is_one_of(label->key, "thread", "thread_name") && text)
		sample->thread = text;
	else if (is_one_of(label->key, "thread_id", "tid") &&
		 (!text || scan_number(&text, 10, &number)))
		sample->tid = number;
	else if (strcmp(label->key, "pprof::base") == 0)
		sample->is_base = true;
	else if (strcmp(label->key, "bytes") == 0 && !text)
		sample->bytes = number <= INT64_MAX ? number : 0;
	else
		return false;
	return true;
}

/*
 * Keeps another label. Numbers of two keys are bytes in pprof where the file does not say what they
 * are; a number that is 0 and has no unit is nothing.
 */
static void keep_label(struct pprof_sample *sample, struct label label)
{
	unsigned int shift;

	if (sample->label_count == LABELS_MAX || (!label.text && !label.number && !*label.unit))
		return;
	if (label.text)
		label.unit = NULL;
	else if (!*label.unit && is_one_of(label.key, "request", "alignment"))
		label.unit = LABEL_BYTES;
	else if (pprof_unit_shift(label.unit, &shift)) {
		label.unit = LABEL_BYTES;
		if (__builtin_mul_overflow(label.number, INT64_C(1) << shift, &label.number))
			label.number = INT64_MAX;
	}
	sample->label[sample->label_count++] = label;
}

static int read_label(const struct pprof_reader *reader, const struct protobuf_field *field,
		      struct pprof_sample *sample)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct protobuf_field part;
	struct label label = {.key = "", .unit = ""};
	int end;

	while (!(end = protobuf_next(&rest, &part))) {
		if ((part.number == LABEL_KEY || part.number == LABEL_STR ||
		     part.number == LABEL_NUM_UNIT) &&
		    !pprof_has_string(&reader->tables, part.value))
			return -EBADMSG;
		if (part.number == LABEL_KEY)
			label.key = pprof_string(&reader->tables, part.value);
		else if (part.number == LABEL_STR && part.value)
			label.text = pprof_string(&reader->tables, part.value);
		else if (part.number == LABEL_NUM)
			label.number = (int64_t)part.value;
		else if (part.number == LABEL_NUM_UNIT)
			label.unit = pprof_string(&reader->tables, part.value);
	}
	if (!take_known(sample, &label))
		keep_label(sample, label);
	return end == -ENODATA ? 0 : -EBADMSG;
}

/* Leaves out what the file asks not to show. */
static void drop_frames(struct pprof_reader *reader, struct pprof_sample *sample)
{
	const size_t count = dropped_frames_count(reader->dropped, sample->frame_count);

	sample->frame_count -= (uint32_t)count;
	memmove(reader->frame, reader->frame + count,
		sample->frame_count * sizeof(reader->frame[0]));
}

/* From the types of blocks to those of another kind of rows, or back. */
static void swap_columns(struct pprof_reader *reader, enum pprof_side with)
{
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
		const int column = reader->column[type];

		reader->column[type] = reader->side_column[with][type];
		reader->side_column[with][type] = column;
	}
	reader->adds = reader->adds == with ? PPROF_SIDES : with;
}

int pprof_read_sample(struct pprof_reader *reader, const struct protobuf_field *field)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct pprof_sample sample = {.frame_count = 0};
	struct protobuf_field part;
	int end, err = 0;

	while (!err && !(end = protobuf_next(&rest, &part))) {
		if (part.number == SAMPLE_LOCATION_ID)
			err = read_locations(reader, &part, &sample);
		else if (part.number == SAMPLE_VALUE)
			err = read_values(&part, &sample);
		else if (part.number == SAMPLE_LABEL)
			err = read_label(reader, &part, &sample);
	}
	if (err || end != -ENODATA)
		return -EBADMSG;
	if (sample.value_count != reader->type_count) {
		read_damage(reader->profile,
			    "damaged: a sample has %zu values, and there are %zu types",
			    sample.value_count, (size_t)reader->type_count);
		return -EBADMSG;
	}
	drop_frames(reader, &sample);
	err = add_sample(reader, &sample);
	for (enum pprof_side side = 0; side < PPROF_SIDES && !err; side++) {
		if (side == PPROF_MAPPINGS ? !reader->profile->has_mappings
					   : !reader->profile->has_pooled)
			continue;
		swap_columns(reader, side);
		err = add_sample(reader, &sample);
		swap_columns(reader, side);
	}
	return err;
}
