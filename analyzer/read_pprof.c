/* SPDX-License-Identifier: MIT */
/*
 * read_pprof.c - a profile.proto: of Go programs, of pprof itself, of whoever writes it, and of heapinject.
 *
 * The whole message is held in memory, and gone through several times, as parts of it may refer to others behind them: to strings and functions, mappings,
 * locations, samples. Its values are estimates that somebody has made of samples; what heapinject has made, it can take back (read_pprof_own.h). Values may
 * be negative, in files that hold a comparison: these count for the base. Start at read_pprof().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "pprof_fields.h"
#include "read_common.h"
#include "read_formats.h"
#include "read_pprof_own.h"
#include "read_pprof_tables.h"
#include "scan.h"

#define MESSAGE_MAX (1u << 30)
#define FIRST_PEEK (256u << 10)
#define VALUES_MAX 64u /* sample types of one file */
#define COMMENTS_MAX 64u
#define FRAMES_MAX 65536u
#define SIDES 2

struct pprof_reader {
	struct profile *profile;
	struct pprof_tables tables;
	const uint8_t *bytes;
	size_t size;
	uint64_t type[VALUES_MAX], unit[VALUES_MAX]; /* string numbers */
	size_t type_count;
	uint64_t comment[COMMENTS_MAX]; /* string numbers */
	size_t comment_count;
	int column[SAMPLE_TYPE_COUNT]; /* where each is among a sample's values; -1 = nowhere */
	uint64_t interval;             /* of the rows */
	uint64_t *row_size;            /* by row: bytes of each of its blocks, 0 = unknown */
	size_t size_count, size_capacity;
	bool has_threads;
	uint32_t frame[FRAMES_MAX];
};

/* A sample, as the message has it. */
struct pprof_sample {
	uint32_t frame_count;
	int64_t value[VALUES_MAX];
	size_t value_count;
	const char *thread; /* NULL = unknown */
	uint64_t tid;       /* 0 = unknown */
	uint64_t bytes;     /* of the size class; 0 = unknown */
};

/* ---- recognition ---- */

/* A value type: nothing but two string numbers. */
static bool is_value_type(const struct protobuf_field *field)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct protobuf_field part;
	int end;

	while (!(end = protobuf_next(&rest, &part))) {
		if (part.bytes || (part.number != VALUE_TYPE && part.number != VALUE_UNIT))
			return false;
	}
	return field->size > 0 && end == -ENODATA;
}

static bool is_possible(const struct protobuf_field *field)
{
	switch (field->number) {
	case PROFILE_SAMPLE_TYPE:
	case PROFILE_PERIOD_TYPE:
		return is_value_type(field);
	case PROFILE_TIME_NANOS:
	case PROFILE_DURATION_NANOS:
	case PROFILE_PERIOD:
	case PROFILE_DEFAULT_SAMPLE_TYPE:
		return !field->bytes;
	default:
		return field->number <= PROFILE_FIELD_MAX;
	}
}

/* There is no mark: all fields are such as there are, and early among them is what it counts. */
bool read_pprof_recognize(const uint8_t *bytes, size_t size)
{
	struct protobuf_rest rest = {.at = bytes, .end = bytes + size};
	struct protobuf_field field;
	bool counts_something = false;

	while (!protobuf_next(&rest, &field)) {
		if (!is_possible(&field))
			return false;
		counts_something |= field.number == PROFILE_SAMPLE_TYPE || field.number == PROFILE_PERIOD_TYPE;
	}
	return counts_something;
}

/* ---- what it counts ---- */

static const struct {
	const char *type;
	enum sample_type of;
} known_types[] = {
	{"alloc_objects", ALLOC_OBJECTS}, {"alloc_space", ALLOC_SPACE}, {"inuse_objects", INUSE_OBJECTS},
	{"inuse_space", INUSE_SPACE},     {"objects", INUSE_OBJECTS}, /* go pprof's for heap profiles that know nothing of what was freed */
	{"space", INUSE_SPACE},
};

static void find_columns(struct pprof_reader *reader)
{
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		reader->column[type] = -1;
	for (size_t i = 0; i < reader->type_count; i++) {
		for (size_t k = 0; k < sizeof(known_types) / sizeof(known_types[0]); k++) {
			if (reader->column[known_types[k].of] < 0 && strcmp(pprof_string(&reader->tables, reader->type[i]), known_types[k].type) == 0)
				reader->column[known_types[k].of] = (int)i;
		}
	}
}

static bool has(const struct pprof_reader *reader, enum sample_type type)
{
	return reader->column[type] >= 0;
}

/* The end of the file, with the strings in it, is missing: the types are what heap profiles usually have. */
static bool guess_columns(struct pprof_reader *reader)
{
	for (int type = 0; type < SAMPLE_TYPE_COUNT && reader->type_count == SAMPLE_TYPE_COUNT; type++)
		reader->column[type] = type;
	for (int type = 0; type < 2 && reader->type_count == 2; type++)
		reader->column[INUSE_OBJECTS + type] = type;
	return has(reader, INUSE_SPACE);
}

/* What the file has instead, for whoever took a CPU profile for one of the heap. */
static int refuse_types(struct pprof_reader *reader)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < reader->type_count; i++)
		fprintf(out, "%s%s (%s)", i ? ", " : "", pprof_string(&reader->tables, reader->type[i]), pprof_string(&reader->tables, reader->unit[i]));
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	read_damage(reader->profile, "no heap profile: it counts %.400s, and none of alloc_objects, alloc_space, inuse_objects, inuse_space, objects, space",
		    *text ? text : "nothing");
	free(text);
	return -EBADMSG;
}

static int choose_columns(struct pprof_reader *reader)
{
	struct profile_meta *meta = &reader->profile->meta;
	bool has_any = false;

	find_columns(reader);
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		has_any |= has(reader, (enum sample_type)type);
	if (!has_any && !(meta->damage && reader->tables.string_count == 0 && guess_columns(reader)))
		return refuse_types(reader);
	if (!has(reader, ALLOC_OBJECTS) && !has(reader, INUSE_OBJECTS))
		meta->untold |= PROFILE_UNTOLD_OBJECTS;
	if (!has(reader, ALLOC_SPACE) && !has(reader, INUSE_SPACE))
		meta->untold |= PROFILE_UNTOLD_SPACE;
	if (!has(reader, INUSE_OBJECTS) && !has(reader, INUSE_SPACE))
		meta->untold |= PROFILE_UNTOLD_INUSE;
	if (!has(reader, ALLOC_OBJECTS) && !has(reader, ALLOC_SPACE))
		meta->untold |= PROFILE_UNTOLD_ALLOC;
	return 0;
}

/* ---- samples ---- */

static void add_to_side(uint64_t *count_new, uint64_t *count_base, int64_t value)
{
	if (value >= 0)
		*count_new += (uint64_t)value;
	else
		*count_base += 0 - (uint64_t)value;
}

static int64_t value_of(const struct pprof_reader *reader, const struct pprof_sample *sample, enum sample_type type)
{
	const int column = reader->column[type];

	return column >= 0 && (size_t)column < sample->value_count ? sample->value[column] : 0;
}

/* Bytes need a block that has them, and what is in use was allocated: what is missing for that is added on both sides, which changes no difference. */
static void complete_sides(struct profile_row side[SIDES])
{
	for (int i = 0; i < SIDES; i++) {
		if ((side[i].alloc_bytes && !side[i].alloc_count) || (side[i].inuse_bytes && !side[i].inuse_count)) {
			for (int k = 0; k < SIDES; k++) {
				side[k].inuse_count += side[i].inuse_bytes && !side[i].inuse_count;
				side[k].alloc_count++;
			}
		}
	}
	for (int i = 0; i < SIDES; i++) {
		const uint64_t missing = side[i].inuse_count > side[i].alloc_count ? side[i].inuse_count - side[i].alloc_count : 0;

		side[PROFILE_NEW].alloc_count += missing;
		side[PROFILE_BASE].alloc_count += missing;
	}
}

/* One value stands for one block where nobody has counted them. */
static void split_sides(const struct pprof_reader *reader, const struct pprof_sample *sample, struct profile_row side[SIDES])
{
	struct profile_row *new = &side[PROFILE_NEW], *base = &side[PROFILE_BASE];

	add_to_side(&new->alloc_count, &base->alloc_count, value_of(reader, sample, ALLOC_OBJECTS));
	add_to_side(&new->alloc_bytes, &base->alloc_bytes, value_of(reader, sample, ALLOC_SPACE));
	add_to_side(&new->inuse_count, &base->inuse_count, value_of(reader, sample, INUSE_OBJECTS));
	add_to_side(&new->inuse_bytes, &base->inuse_bytes, value_of(reader, sample, INUSE_SPACE));
	for (int i = 0; i < SIDES; i++) {
		if (!has(reader, ALLOC_OBJECTS) && !has(reader, INUSE_OBJECTS)) {
			side[i].alloc_count = side[i].alloc_bytes != 0;
			side[i].inuse_count = side[i].inuse_bytes != 0;
		}
		if (!has(reader, ALLOC_OBJECTS) && !has(reader, ALLOC_SPACE)) {
			side[i].alloc_count = side[i].inuse_count;
			side[i].alloc_bytes = side[i].inuse_bytes;
		}
	}
	complete_sides(side);
}

static int thread_of(struct pprof_reader *reader, const struct pprof_sample *sample, uint32_t *out_thread)
{
	*out_thread = 0;
	if (!sample->thread && !sample->tid)
		return 0;
	reader->has_threads = true;
	return parts_thread(&reader->profile->parts, sample->thread, sample->tid <= UINT32_MAX ? (uint32_t)sample->tid : 0, out_thread);
}

static bool is_too_large(const struct profile_row *counts)
{
	return counts->alloc_count > INT64_MAX || counts->alloc_bytes > INT64_MAX || counts->inuse_count > INT64_MAX || counts->inuse_bytes > INT64_MAX;
}

/* What the file says of the size of a row's blocks, for pprof_own_take_back(). */
static int note_size(struct pprof_reader *reader, uint32_t row, uint64_t bytes)
{
	while (reader->size_count <= row) {
		if (array_reserve(&reader->row_size, &reader->size_capacity, reader->size_count, sizeof(*reader->row_size)))
			return -ENOMEM;
		reader->row_size[reader->size_count++] = 0;
	}
	reader->row_size[row] = bytes ? bytes : reader->row_size[row];
	return 0;
}

/* 0, -ENOMEM, or -EBADMSG: too large. */
static int add_sample(struct pprof_reader *reader, const struct pprof_sample *sample)
{
	struct profile_row side[SIDES] = {{.alloc_count = 0}};
	struct profile_row_key key = {.interval = reader->interval};
	uint32_t thread, row;
	int error = 0;

	split_sides(reader, sample, side);
	if (is_too_large(&side[PROFILE_NEW]) || is_too_large(&side[PROFILE_BASE]))
		return -EBADMSG;
	if (thread_of(reader, sample, &thread) || profile_stack_of(reader->profile, reader->frame, sample->frame_count, 0, &key.stack))
		return -ENOMEM;
	for (int i = 0; i < SIDES && !error; i++) {
		if (!side[i].alloc_count)
			continue;
		key.side = (enum profile_side)i;
		key.size_class = profile_size_class(sample->bytes ? sample->bytes : side[i].alloc_bytes / side[i].alloc_count);
		error = read_add(reader->profile, &key, &side[i], &row);
		if (!error)
			error = note_size(reader, row, sample->bytes);
		if (!error && thread)
			error = read_add_part(reader->profile, row, thread, &side[i]);
	}
	return error == -ERANGE ? -EBADMSG : error;
}

static int read_numbers(const struct protobuf_field *field, struct protobuf_rest *rest, uint64_t *out_value)
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

static int read_locations(struct pprof_reader *reader, const struct protobuf_field *field, struct pprof_sample *sample)
{
	struct protobuf_rest rest = protobuf_inside(field);
	uint64_t id;
	int end;

	while (!(end = read_numbers(field, &rest, &id))) {
		if (sample->frame_count == FRAMES_MAX || !pprof_frame(&reader->tables, id, &reader->frame[sample->frame_count]))
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

	while (!(end = read_numbers(field, &rest, &value))) {
		if (sample->value_count == VALUES_MAX)
			return -EBADMSG;
		sample->value[sample->value_count++] = (int64_t)value;
	}
	return end == -ENODATA ? 0 : -EBADMSG;
}

static bool is_one_of(const char *key, const char *a, const char *b)
{
	return strcmp(key, a) == 0 || strcmp(key, b) == 0;
}

static int read_label(const struct pprof_reader *reader, const struct protobuf_field *field, struct pprof_sample *sample)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct protobuf_field part;
	const char *key = "", *text = "";
	uint64_t number = 0;
	int end;

	while (!(end = protobuf_next(&rest, &part))) {
		if (part.number == LABEL_KEY)
			key = pprof_string(&reader->tables, part.value);
		else if (part.number == LABEL_STR)
			text = pprof_string(&reader->tables, part.value);
		else if (part.number == LABEL_NUM)
			number = part.value;
	}
	if (is_one_of(key, "thread", "thread_name") && *text)
		sample->thread = text;
	else if (is_one_of(key, "thread_id", "tid"))
		sample->tid = *text && !scan_number(&text, 10, &number) ? 0 : number;
	else if (strcmp(key, "bytes") == 0 && number <= INT64_MAX)
		sample->bytes = number;
	return end == -ENODATA ? 0 : -EBADMSG;
}

static int read_sample(struct pprof_reader *reader, const struct protobuf_field *field)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct pprof_sample sample = {.frame_count = 0};
	struct protobuf_field part;
	int end, error = 0;

	while (!error && !(end = protobuf_next(&rest, &part))) {
		if (part.number == SAMPLE_LOCATION_ID)
			error = read_locations(reader, &part, &sample);
		else if (part.number == SAMPLE_VALUE)
			error = read_values(&part, &sample);
		else if (part.number == SAMPLE_LABEL)
			error = read_label(reader, &part, &sample);
	}
	if (error || end != -ENODATA || sample.value_count != reader->type_count)
		return -EBADMSG;
	return add_sample(reader, &sample);
}

/* ---- the message ---- */

static int read_type(struct pprof_reader *reader, const struct protobuf_field *field)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct protobuf_field part;

	if (reader->type_count == VALUES_MAX)
		return -EBADMSG;
	while (!protobuf_next(&rest, &part)) {
		if (part.number == VALUE_TYPE)
			reader->type[reader->type_count] = part.value;
		else if (part.number == VALUE_UNIT)
			reader->unit[reader->type_count] = part.value;
	}
	reader->type_count++;
	return 0;
}

static int read_comments(struct pprof_reader *reader, const struct protobuf_field *field)
{
	struct protobuf_rest rest = protobuf_inside(field);
	uint64_t number;

	while (!read_numbers(field, &rest, &number)) {
		if (reader->comment_count < COMMENTS_MAX)
			reader->comment[reader->comment_count++] = number;
	}
	return 0;
}

static int read_first(struct pprof_reader *reader, const struct protobuf_field *field)
{
	struct profile_meta *meta = &reader->profile->meta;

	switch (field->number) {
	case PROFILE_SAMPLE_TYPE:
		return read_type(reader, field);
	case PROFILE_COMMENT:
		return read_comments(reader, field);
	case PROFILE_TIME_NANOS:
		meta->start_unix_ns = field->value <= INT64_MAX ? field->value : 0;
		return 0;
	case PROFILE_DURATION_NANOS:
		meta->duration_ns = field->value <= INT64_MAX ? field->value : 0;
		return 0;
	default:
		return pprof_tables_add(&reader->tables, field);
	}
}

static int read_mapping(struct pprof_reader *reader, const struct protobuf_field *field)
{
	return field->number == PROFILE_MAPPING ? pprof_tables_add_mapping(&reader->tables, field) : 0;
}

static int read_location(struct pprof_reader *reader, const struct protobuf_field *field)
{
	return field->number == PROFILE_LOCATION ? pprof_tables_add_location(&reader->tables, field) : 0;
}

static int read_samples(struct pprof_reader *reader, const struct protobuf_field *field)
{
	return field->number == PROFILE_SAMPLE ? read_sample(reader, field) : 0;
}

/* Every field of the message, to its end or to where it makes no sense any more. What is wrong inside one is damage, and the rest counts. */
static int for_each_field(struct pprof_reader *reader, int (*read)(struct pprof_reader *reader, const struct protobuf_field *field))
{
	struct protobuf_rest rest = {.at = reader->bytes, .end = reader->bytes + reader->size};
	struct protobuf_field field;
	int error = 0, end = 0;

	while (error != -ENOMEM) {
		const size_t at = (size_t)(rest.at - reader->bytes);

		end = protobuf_next(&rest, &field);
		if (end)
			break;
		error = read(reader, &field);
		if (error == -EBADMSG)
			read_damage(reader->profile, "damaged at byte %zu of the message, in its field %u", at, field.number);
	}
	if (end == -EBADMSG)
		read_damage(reader->profile, "cut off or damaged at byte %zu of the message", (size_t)(rest.at - reader->bytes));
	return error == -ENOMEM ? error : 0;
}

static void read_own(struct pprof_reader *reader)
{
	struct profile_meta *meta = &reader->profile->meta;

	meta->is_scaled = true;
	meta->interval = 1;
	for (size_t i = 0; i < reader->comment_count; i++)
		pprof_own_comment(pprof_string(&reader->tables, reader->comment[i]), meta);
	reader->interval = pprof_own_interval(meta);
}

static int read_message(struct pprof_reader *reader)
{
	int error = for_each_field(reader, read_first);

	if (!error)
		error = choose_columns(reader);
	if (error)
		return error;
	read_own(reader);
	error = for_each_field(reader, read_mapping);
	if (!error)
		error = for_each_field(reader, read_location);
	if (!error)
		error = for_each_field(reader, read_samples);
	if (!error && reader->has_threads)
		error = read_share_rest(reader->profile);
	if (!error)
		pprof_own_take_back(reader->profile, reader->row_size);
	return !error && !reader->profile->row_count && reader->profile->meta.damage ? -EBADMSG : error;
}

int read_pprof(struct input *input, struct profile *profile)
{
	struct pprof_reader *reader = calloc(1, sizeof(*reader));
	size_t wanted = FIRST_PEEK;
	int error;

	if (!reader)
		return -ENOMEM;
	reader->profile = reader->tables.profile = profile;
	while ((reader->size = input_peek(input, wanted, &reader->bytes)) >= wanted && wanted < MESSAGE_MAX)
		wanted *= 2;
	if (reader->size >= MESSAGE_MAX)
		read_damage(profile, "larger than %u MiB: the rest was not read", MESSAGE_MAX >> 20);
	if (input->error)
		read_damage(profile, "unreadable after byte %zu of the message: %s", reader->size, input_complaint(input));
	error = read_message(reader);
	pprof_tables_close(&reader->tables);
	free(reader->row_size);
	free(reader);
	return error;
}
