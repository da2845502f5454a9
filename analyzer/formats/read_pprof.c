/* SPDX-License-Identifier: MIT */
/*
 * read_pprof.c - reads a profile.proto, as Go programs, pprof itself, heapinject and other tools
 * write it.
 *
 * The whole message is held in memory and gone through several times, because parts of it may refer
 * to parts that come later: first for strings and functions, then for mappings, locations and
 * samples. Its values are estimates that a tool has made of samples. Those that heapinject has made
 * can be turned back into samples (read_pprof_own.h). Values may be negative, in files that hold a
 * comparison: these count for the base. Start at read_pprof().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "estimate.h"
#include "pprof_fields.h"
#include "read_common.h"
#include "read_formats.h"
#include "read_pprof_own.h"
#include "read_pprof_samples.h"
#include "sample_types.h"

#define MESSAGE_MAX (1u << 30)
#define FIRST_PEEK (256u << 10)

/* ---- recognition ----------------------------------------------------------------------------- */

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
	case PROFILE_DROP_FRAMES:
	case PROFILE_KEEP_FRAMES:
	case PROFILE_DEFAULT_SAMPLE_TYPE:
		return !field->bytes;
	default:
		return field->number <= PROFILE_FIELD_MAX;
	}
}

/*
 * The format has no magic number. So every field must be a possible one, and one of the first must
 * say what the profile counts.
 */
bool read_pprof_recognize(const uint8_t *bytes, size_t size)
{
	struct protobuf_rest rest = {.at = bytes, .end = bytes + size};
	struct protobuf_field field;
	bool counts_something = false;

	while (!protobuf_next(&rest, &field)) {
		if (!is_possible(&field))
			return false;
		counts_something |=
			field.number == PROFILE_SAMPLE_TYPE || field.number == PROFILE_PERIOD_TYPE;
	}
	return counts_something;
}

/* ---- what it counts -------------------------------------------------------------------------- */

/* Of those that are in a file, the first one of each kind counts. */
static const struct {
	const char *type;
	enum sample_type of;
} known_types[] = {
	{"alloc_objects", ALLOC_OBJECTS},
	{"alloc_space", ALLOC_SPACE},
	{"inuse_objects", INUSE_OBJECTS},
	{"inuse_space", INUSE_SPACE},
	/* ours after tcmalloc's */
	{"resident_space", RESIDENT_SPACE},
	{"swapped_space", SWAPPED_SPACE},
	/* go pprof's for heap profiles that know nothing of what was freed */
	{"objects", INUSE_OBJECTS},
	{"space", INUSE_SPACE},
	/* Go's before version 1.1 */
	{"allocations", ALLOC_OBJECTS},
	{"size", ALLOC_SPACE},
	/* the JVM's: async-profiler and flight recordings, by way of Pyroscope */
	{"alloc_in_new_tlab_objects", ALLOC_OBJECTS},
	{"alloc_in_new_tlab_bytes", ALLOC_SPACE},
	{"alloc_sample_objects", ALLOC_OBJECTS},
	{"alloc_sample_bytes", ALLOC_SPACE},
	{"live", INUSE_OBJECTS},
	/* Datadog's */
	{"alloc-samples", ALLOC_OBJECTS},
	{"alloc-space", ALLOC_SPACE},
	{"alloc_samples", ALLOC_OBJECTS},
	{"alloc_size", ALLOC_SPACE},
	{"inuse-objects", INUSE_OBJECTS},
	{"inuse-space", INUSE_SPACE},
	{"heap-samples", INUSE_OBJECTS},
	{"heap-space", INUSE_SPACE},
	{"heap_live_samples", INUSE_OBJECTS},
	{"heap_live_size", INUSE_SPACE},
	/* counts beside those in new TLABs, as each allocation is one or the other */
	{"alloc_outside_tlab_objects", ALLOC_OBJECTS},
	{"alloc_outside_tlab_bytes", ALLOC_SPACE},
};
#define OUTSIDE "alloc_outside_tlab_"

/* The position of the type among a sample's values, or -1. */
static int find_type(const struct pprof_reader *reader, const char *type)
{
	for (size_t i = 0; i < reader->type_count; i++) {
		if (strcmp(pprof_string(&reader->tables, reader->type[i]), type) == 0)
			return (int)i;
	}
	return -1;
}

/* Of our own files only. */
static void find_side_columns(struct pprof_reader *reader)
{
	struct profile *profile = reader->profile;

	for (unsigned i = 0; i < MAPPING_TYPES; i++)
		reader->side_column[PPROF_MAPPINGS][mapping_types[i].as] =
			find_type(reader, mapping_types[i].name);
	for (unsigned i = 0; i < POOL_TYPES; i++)
		reader->side_column[PPROF_POOLED][pool_types[i].as] =
			find_type(reader, pool_types[i].name);
	profile->has_pooled = reader->side_column[PPROF_POOLED][INUSE_SPACE] >= 0;
	profile->has_mappings = reader->side_column[PPROF_MAPPINGS][INUSE_SPACE] >= 0;
	profile->mapping_residency = reader->side_column[PPROF_MAPPINGS][RESIDENT_SPACE] >= 0
					     ? PROFILE_RESIDENCY_KNOWN
					     : PROFILE_RESIDENCY_UNKNOWN;
}

static void find_columns(struct pprof_reader *reader)
{
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		reader->column[type] = reader->more[type] =
			reader->side_column[PPROF_MAPPINGS][type] =
				reader->side_column[PPROF_POOLED][type] = -1;
	reader->adds = PPROF_SIDES;
	find_side_columns(reader);
	for (size_t k = 0; k < sizeof(known_types) / sizeof(known_types[0]); k++) {
		const enum sample_type of = known_types[k].of;
		const int at = find_type(reader, known_types[k].type);

		if (at >= 0 && reader->column[of] < 0)
			reader->column[of] = at;
		else if (at >= 0 && strncmp(known_types[k].type, OUTSIDE, strlen(OUTSIDE)) == 0)
			reader->more[of] = at;
	}
}

/* What has another unit is taken for bytes, or a count. */
static void find_units(struct pprof_reader *reader)
{
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
		if (pprof_has(reader, (enum sample_type)type) && sample_types[type].is_bytes)
			(void)pprof_unit_shift(
				pprof_string(&reader->tables, reader->unit[reader->column[type]]),
				&reader->shift[type]);
	}
}

/*
 * For a file whose end, with the strings, is missing: takes the types that heap profiles usually
 * have.
 */
static bool guess_columns(struct pprof_reader *reader)
{
	const int count = (int)reader->type_count;

	for (int type = 0;
	     type < count && (count == SAMPLE_TYPES_ALWAYS || count == SAMPLE_TYPE_COUNT); type++)
		reader->column[type] = type;
	for (int type = 0; type < 2 && reader->type_count == 2; type++)
		reader->column[INUSE_OBJECTS + type] = type;
	return pprof_has(reader, INUSE_SPACE);
}

/* Where the strings are cut off, the file does not say what it counts. */
static bool lacks_types(const struct pprof_reader *reader)
{
	for (size_t i = 0; i < reader->type_count; i++) {
		if (!pprof_has_string(&reader->tables, reader->type[i]) ||
		    !pprof_has_string(&reader->tables, reader->unit[i]))
			return true;
	}
	return false;
}

/* Says what the file counts instead, for a user who took a CPU profile for a heap profile. */
static int refuse_types(struct pprof_reader *reader)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < reader->type_count; i++)
		fprintf(out, "%s%s (%s)", i ? ", " : "",
			pprof_string(&reader->tables, reader->type[i]),
			pprof_string(&reader->tables, reader->unit[i]));
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	read_damage(reader->profile,
		    "no heap profile: it counts %.400s, and none of alloc_objects, alloc_space, "
		    "inuse_objects, inuse_space, objects, space",
		    *text ? text : "nothing");
	free(text);
	return -EBADMSG;
}

static int choose_columns(struct pprof_reader *reader)
{
	struct profile_meta *meta = &reader->profile->meta;
	bool has_any = false;

	if (lacks_types(reader))
		read_damage(reader->profile, "cut off before the strings that say what it counts");
	find_columns(reader);
	find_units(reader);
	for (int type = 0; type < SAMPLE_TYPES_ALWAYS; type++)
		has_any |= pprof_has(reader, (enum sample_type)type);
	if (!has_any && !(lacks_types(reader) && guess_columns(reader)))
		return refuse_types(reader);
	if (!pprof_has(reader, ALLOC_OBJECTS) && !pprof_has(reader, INUSE_OBJECTS))
		meta->missing |= PROFILE_MISSING_OBJECTS;
	if (!pprof_has(reader, ALLOC_SPACE) && !pprof_has(reader, INUSE_SPACE))
		meta->missing |= PROFILE_MISSING_SPACE;
	if (!pprof_has(reader, INUSE_OBJECTS) && !pprof_has(reader, INUSE_SPACE))
		meta->missing |= PROFILE_MISSING_INUSE;
	if (!pprof_has(reader, ALLOC_OBJECTS) && !pprof_has(reader, ALLOC_SPACE))
		meta->missing |= PROFILE_MISSING_ALLOC;
	if (pprof_has(reader, RESIDENT_SPACE) && pprof_has(reader, SWAPPED_SPACE))
		meta->residency = PROFILE_RESIDENCY_KNOWN;
	return 0;
}

/* ---- the message ----------------------------------------------------------------------------- */

static int read_type(struct pprof_reader *reader, const struct protobuf_field *field)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct protobuf_field part;

	if (reader->type_count == PPROF_VALUES_MAX)
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

	while (!pprof_numbers(field, &rest, &number)) {
		if (reader->comment_count < PPROF_COMMENTS_MAX)
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
	case PROFILE_DROP_FRAMES:
		reader->drop_frames = field->value;
		return 0;
	case PROFILE_KEEP_FRAMES:
		reader->keep_frames = field->value;
		return 0;
	case PROFILE_DEFAULT_SAMPLE_TYPE:
		reader->default_type = field->value;
		return 0;
	default:
		return pprof_tables_add(&reader->tables, field);
	}
}

static int read_mapping(struct pprof_reader *reader, const struct protobuf_field *field)
{
	return field->number == PROFILE_MAPPING ? pprof_tables_add_mapping(&reader->tables, field)
						: 0;
}

static int read_location(struct pprof_reader *reader, const struct protobuf_field *field)
{
	return field->number == PROFILE_LOCATION ? pprof_tables_add_location(&reader->tables, field)
						 : 0;
}

static int read_samples(struct pprof_reader *reader, const struct protobuf_field *field)
{
	return field->number == PROFILE_SAMPLE ? pprof_read_sample(reader, field) : 0;
}

/*
 * Reads every field of the message, to its end or to where it makes no sense any more. An error
 * inside a field is damage; the other fields still count.
 */
static int for_each_field(struct pprof_reader *reader,
			  int (*read)(struct pprof_reader *reader,
				      const struct protobuf_field *field))
{
	struct protobuf_rest rest = {.at = reader->bytes, .end = reader->bytes + reader->size};
	struct protobuf_field field;
	int err = 0, end = 0;

	while (err != -ENOMEM) {
		const size_t at = (size_t)(rest.at - reader->bytes);

		end = protobuf_next(&rest, &field);
		if (end)
			break;
		err = read(reader, &field);
		if (err == -EBADMSG)
			read_damage(reader->profile,
				    "damaged at byte %zu of the message, in its field %u", at,
				    field.number);
	}
	if (end == -EBADMSG)
		read_damage(reader->profile, "cut off or damaged at byte %zu of the message",
			    (size_t)(rest.at - reader->bytes));
	return err == -ENOMEM ? err : 0;
}

/* Keeps the comments of another tool; ours are made anew of what they say. */
static int keep_comments(struct pprof_reader *reader)
{
	struct profile_meta *meta = &reader->profile->meta;
	size_t size;
	FILE *out;

	if (!reader->comment_count || meta->version)
		return 0;
	out = open_memstream(&meta->comments, &size);
	for (size_t i = 0; out && i < reader->comment_count; i++)
		fprintf(out, "%s\n", pprof_string(&reader->tables, reader->comment[i]));
	return out && !fclose(out) ? 0 : -ENOMEM;
}

/*
 * As in pprof, an expression that is none is as if there were none; but here it is said. Files of
 * our own name what the views leave out anyway, and keep their stacks.
 */
static int open_dropped(struct pprof_reader *reader)
{
	if (reader->profile->meta.version)
		return 0;
	char complaint[PATTERN_COMPLAINT_MAX] = "";
	const int err = dropped_frames_open(
		&reader->tables.dropped, pprof_string(&reader->tables, reader->drop_frames),
		pprof_string(&reader->tables, reader->keep_frames), complaint);

	if (err == -EINVAL)
		read_damage(reader->profile, "what it asks not to show (drop_frames) is shown: %s",
			    complaint);
	return err == -ENOMEM ? err : 0;
}

static void take_default_type(struct pprof_reader *reader)
{
	const char *name = pprof_string(&reader->tables, reader->default_type);
	const int at = *name ? find_type(reader, name) : -1;

	for (uint32_t type = 0; type < SAMPLE_TYPE_COUNT && at >= 0; type++) {
		if (reader->column[type] == at || reader->more[type] == at)
			reader->profile->meta.default_type = type + 1;
	}
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
	int err = for_each_field(reader, read_first);

	if (!err)
		err = choose_columns(reader);
	if (err)
		return err;
	read_own(reader);
	take_default_type(reader);
	err = keep_comments(reader);
	if (!err)
		err = open_dropped(reader);
	if (!err)
		err = for_each_field(reader, read_mapping);
	for (size_t i = 0; i < reader->comment_count && !err; i++)
		pprof_own_inodes(pprof_string(&reader->tables, reader->comment[i]),
				 reader->profile);
	if (!err)
		err = for_each_field(reader, read_location);
	if (!err)
		err = for_each_field(reader, read_samples);
	if (!err && reader->has_threads)
		err = read_share_rest(reader->profile);
	if (!err)
		pprof_own_take_back(reader->profile, reader->row_size);
	return !err && !reader->profile->row_count && reader->profile->meta.damage ? -EBADMSG : err;
}

int read_pprof(struct input *input, struct profile *profile)
{
	struct pprof_reader *reader = calloc(1, sizeof(*reader));
	size_t wanted = FIRST_PEEK;
	int err;

	if (!reader)
		return -ENOMEM;
	reader->profile = reader->tables.profile = profile;
	while ((reader->size = input_peek(input, wanted, &reader->bytes)) >= wanted &&
	       wanted < MESSAGE_MAX)
		wanted *= 2;
	if (reader->size >= MESSAGE_MAX)
		read_damage(profile, "larger than %u MiB: the rest was not read",
			    MESSAGE_MAX >> 20);
	if (input->err)
		read_damage(profile, "unreadable after byte %zu of the message: %s", reader->size,
			    input_complaint(input));
	err = read_message(reader);
	pprof_tables_close(&reader->tables);
	free(reader->row_size);
	free(reader);
	return err;
}
