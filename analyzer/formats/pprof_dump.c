/* SPDX-License-Identifier: MIT */
/*
 * pprof_dump.c - prints a message of pprof.c in the words of go tool pprof -raw: comments, samples,
 * locations, mappings, each in the order of the message. Start at pprof_dump().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pprof.h"
#include "pprof_fields.h"
#include "table.h"

#define LABEL_INDENT "                "
#define LINE_INDENT "             "

struct text {
	const char *bytes; /* not terminated */
	int size;
};
struct function {
	uint64_t name, system_name, file;
};
struct dump {
	const struct protobuf *message;
	struct text *string;
	size_t string_count, string_capacity;
	struct function *function; /* by id - 1, as pprof.c numbers them */
	size_t function_count, function_capacity;
	FILE *out;
};

static struct text text_of(const struct dump *dump, uint64_t number)
{
	return number < dump->string_count ? dump->string[number] : (struct text){"", 0};
}

static void print_text(const struct dump *dump, uint64_t number)
{
	const struct text text = text_of(dump, number);

	fprintf(dump->out, "%.*s", text.size, text.bytes);
}

/* The number in a field of a message; 0 = it has none. */
static uint64_t number_in(const struct protobuf_field *field, unsigned int number)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct protobuf_field part;

	while (!protobuf_next(&rest, &part)) {
		if (part.number == number)
			return part.value;
	}
	return 0;
}

static int note_string(struct dump *dump, const struct protobuf_field *field)
{
	if (array_reserve(&dump->string, &dump->string_capacity, dump->string_count,
			  sizeof(*dump->string)))
		return -ENOMEM;
	dump->string[dump->string_count++] =
		(struct text){(const char *)field->bytes, (int)field->size};
	return 0;
}

static int note_function(struct dump *dump, const struct protobuf_field *field)
{
	if (array_reserve(&dump->function, &dump->function_capacity, dump->function_count,
			  sizeof(*dump->function)))
		return -ENOMEM;
	dump->function[dump->function_count++] =
		(struct function){.name = number_in(field, FUNCTION_NAME),
				  .system_name = number_in(field, FUNCTION_SYSTEM_NAME),
				  .file = number_in(field, FUNCTION_FILENAME)};
	return 0;
}

static int note(struct dump *dump)
{
	struct protobuf_rest rest = {.at = dump->message->bytes,
				     .end = dump->message->bytes + dump->message->size};
	struct protobuf_field field;
	int err = 0;

	while (!err && !protobuf_next(&rest, &field)) {
		if (field.number == PROFILE_STRING_TABLE)
			err = note_string(dump, &field);
		else if (field.number == PROFILE_FUNCTION)
			err = note_function(dump, &field);
	}
	return err;
}

/* ---- the head -------------------------------------------------------------------------------- */

static void print_time(const struct dump *dump, uint64_t ns)
{
	const time_t seconds = (time_t)(ns / 1000000000u);
	char text[64], fraction[16], zone[32];
	struct tm local;

	if (!localtime_r(&seconds, &local) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local) ||
	    !strftime(zone, sizeof(zone), "%z %Z", &local))
		return;
	snprintf(fraction, sizeof(fraction), ".%09u", (unsigned int)(ns % 1000000000u));
	for (size_t end = strlen(fraction); end && strchr(".0", fraction[end - 1]);)
		fraction[--end] = '\0';
	fprintf(dump->out, "Time: %s%s %s\n", text, fraction, zone);
}

/* The first four letters of a time as Go writes it: 1m30, 2.05, 350m. */
static void print_duration(const struct dump *dump, uint64_t ns)
{
	const uint64_t seconds = ns / 1000000000u;
	char text[64];

	if (seconds >= 3600)
		snprintf(text, sizeof(text), "%" PRIu64 "h%" PRIu64 "m", seconds / 3600,
			 seconds / 60 % 60);
	else if (seconds >= 60)
		snprintf(text, sizeof(text), "%" PRIu64 "m%.9gs", seconds / 60,
			 (double)(ns % 60000000000u) / 1e9);
	else if (seconds)
		snprintf(text, sizeof(text), "%.11gs", (double)ns / 1e9);
	else
		snprintf(text, sizeof(text), "%.9gms", (double)ns / 1e6);
	fprintf(dump->out, "Duration: %.4s\n", text);
}

static void print_comment(const struct dump *dump, const struct protobuf_field *field,
			  const char *before)
{
	fputs(before, dump->out);
	print_text(dump, field->value);
	putc('\n', dump->out);
}

/* Runs print() for each field of that number. */
static void for_each(const struct dump *dump, unsigned int number,
		     void (*print)(const struct dump *dump, const struct protobuf_field *field))
{
	struct protobuf_rest rest = {.at = dump->message->bytes,
				     .end = dump->message->bytes + dump->message->size};
	struct protobuf_field field;

	while (!protobuf_next(&rest, &field)) {
		if (field.number == number)
			print(dump, &field);
	}
}

static void print_named_comment(const struct dump *dump, const struct protobuf_field *field)
{
	print_comment(dump, field, "Comment: ");
}

static void print_bare_comment(const struct dump *dump, const struct protobuf_field *field)
{
	print_comment(dump, field, "");
}

static void print_period_type(const struct dump *dump, const struct protobuf_field *field)
{
	fputs("PeriodType: ", dump->out);
	print_text(dump, number_in(field, VALUE_TYPE));
	putc(' ', dump->out);
	print_text(dump, number_in(field, VALUE_UNIT));
	putc('\n', dump->out);
}

static void print_types(const struct dump *dump, uint64_t default_type)
{
	struct protobuf_rest rest = {.at = dump->message->bytes,
				     .end = dump->message->bytes + dump->message->size};
	struct protobuf_field field;
	const char *before = "";

	while (!protobuf_next(&rest, &field)) {
		if (field.number != PROFILE_SAMPLE_TYPE)
			continue;
		const uint64_t type = number_in(&field, VALUE_TYPE);
		fputs(before, dump->out);
		print_text(dump, type);
		putc('/', dump->out);
		print_text(dump, number_in(&field, VALUE_UNIT));
		fputs(type == default_type ? "[dflt]" : "", dump->out);
		before = " ";
	}
	putc('\n', dump->out);
}

static void print_head(const struct dump *dump)
{
	struct protobuf_rest rest = {.at = dump->message->bytes,
				     .end = dump->message->bytes + dump->message->size};
	uint64_t known[PROFILE_FIELD_MAX + 1] = {0};
	struct protobuf_field field;

	while (!protobuf_next(&rest, &field)) {
		if (field.number <= PROFILE_FIELD_MAX)
			known[field.number] = field.value;
	}
	for_each(dump, PROFILE_COMMENT, print_named_comment);
	for_each(dump, PROFILE_PERIOD_TYPE, print_period_type);
	fprintf(dump->out, "Period: %" PRIu64 "\n", known[PROFILE_PERIOD]);
	if (known[PROFILE_TIME_NANOS])
		print_time(dump, known[PROFILE_TIME_NANOS]);
	if (known[PROFILE_DURATION_NANOS])
		print_duration(dump, known[PROFILE_DURATION_NANOS]);
	fputs("Samples:\n", dump->out);
	print_types(dump, known[PROFILE_DEFAULT_SAMPLE_TYPE]);
}

/* ---- samples, locations, mappings ------------------------------------------------------------ */

static void print_packed(const struct dump *dump, const struct protobuf_field *field,
			 unsigned int number)
{
	struct protobuf_rest rest = protobuf_inside(field), packed;
	struct protobuf_field part;
	uint64_t value;

	while (!protobuf_next(&rest, &part)) {
		if (part.number != number)
			continue;
		packed = protobuf_inside(&part);
		while (!protobuf_next_number(&packed, &value)) {
			if (number == SAMPLE_VALUE)
				fprintf(dump->out, " %10" PRId64, (int64_t)value);
			else
				fprintf(dump->out, "%" PRIu64 " ", value);
		}
	}
}

/* Prints the labels that are texts, or those that are numbers, in a line of their own. */
static void print_labels(const struct dump *dump, const struct protobuf_field *field, bool numbers)
{
	struct protobuf_rest rest = protobuf_inside(field);
	struct protobuf_field part;
	const char *before = LABEL_INDENT;

	while (!protobuf_next(&rest, &part)) {
		const uint64_t text = part.number == SAMPLE_LABEL ? number_in(&part, LABEL_STR) : 0;
		if (part.number != SAMPLE_LABEL || (text == 0) != numbers)
			continue;
		fputs(before, dump->out);
		print_text(dump, number_in(&part, LABEL_KEY));
		fputs(":[", dump->out);
		if (numbers) {
			fprintf(dump->out, "%" PRId64 " ", (int64_t)number_in(&part, LABEL_NUM));
			print_text(dump, number_in(&part, LABEL_NUM_UNIT));
		} else
			print_text(dump, text);
		putc(']', dump->out);
		before = " ";
	}
	if (*before && strcmp(before, LABEL_INDENT) != 0)
		putc('\n', dump->out);
}

static void print_sample(const struct dump *dump, const struct protobuf_field *field)
{
	print_packed(dump, field, SAMPLE_VALUE);
	fputs(": ", dump->out);
	print_packed(dump, field, SAMPLE_LOCATION_ID);
	putc('\n', dump->out);
	print_labels(dump, field, false);
	print_labels(dump, field, true);
}

static void print_line(const struct dump *dump, const struct protobuf_field *field)
{
	const uint64_t id = number_in(field, LINE_FUNCTION_ID);
	const struct function function =
		id && id <= dump->function_count ? dump->function[id - 1] : (struct function){0};

	print_text(dump, function.name);
	putc(' ', dump->out);
	print_text(dump, function.file);
	fprintf(dump->out, ":%" PRIu64 " s=0", number_in(field, LINE_LINE));
	if (function.name != function.system_name) {
		putc('(', dump->out);
		print_text(dump, function.system_name);
		putc(')', dump->out);
	}
	putc('\n', dump->out);
}

static void print_location(const struct dump *dump, const struct protobuf_field *field)
{
	const uint64_t mapping = number_in(field, LOCATION_MAPPING_ID);
	struct protobuf_rest rest = protobuf_inside(field);
	struct protobuf_field part;
	size_t lines = 0;

	fprintf(dump->out, "%6" PRIu64 ": 0x%" PRIx64 " ", number_in(field, LOCATION_ID),
		number_in(field, LOCATION_ADDRESS));
	if (mapping)
		fprintf(dump->out, "M=%" PRIu64 " ", mapping);
	while (!protobuf_next(&rest, &part)) {
		if (part.number != LOCATION_LINE)
			continue;
		fputs(lines++ ? LINE_INDENT : "", dump->out);
		print_line(dump, &part);
	}
	if (!lines)
		putc('\n', dump->out);
}

static void print_mapping(const struct dump *dump, const struct protobuf_field *field)
{
	fprintf(dump->out, "%" PRIu64 ": 0x%" PRIx64 "/0x%" PRIx64 "/0x%" PRIx64 " ",
		number_in(field, MAPPING_ID), number_in(field, MAPPING_START),
		number_in(field, MAPPING_LIMIT), number_in(field, MAPPING_OFFSET));
	print_text(dump, number_in(field, MAPPING_FILENAME));
	putc(' ', dump->out);
	print_text(dump, number_in(field, MAPPING_BUILD_ID));
	fprintf(dump->out, " %s%s%s%s\n", number_in(field, MAPPING_HAS_FUNCTIONS) ? "[FN]" : "",
		number_in(field, MAPPING_HAS_FILENAMES) ? "[FL]" : "",
		number_in(field, MAPPING_HAS_LINE_NUMBERS) ? "[LN]" : "",
		number_in(field, MAPPING_HAS_INLINE_FRAMES) ? "[IN]" : "");
}

static int dump_open(struct dump *dump, const struct protobuf *message, FILE *out)
{
	*dump = (struct dump){.message = message, .out = out};
	return note(dump);
}

static void dump_close(struct dump *dump)
{
	free(dump->string);
	free(dump->function);
}

int pprof_dump(const struct protobuf *message, FILE *out)
{
	struct dump dump;
	const int err = dump_open(&dump, message, out);

	if (!err) {
		print_head(&dump);
		for_each(&dump, PROFILE_SAMPLE, print_sample);
		fputs("Locations\n", out);
		for_each(&dump, PROFILE_LOCATION, print_location);
		fputs("Mappings\n", out);
		for_each(&dump, PROFILE_MAPPING, print_mapping);
	}
	dump_close(&dump);
	return err;
}

int pprof_dump_comments(const struct protobuf *message, FILE *out)
{
	struct dump dump;
	const int err = dump_open(&dump, message, out);

	if (!err)
		for_each(&dump, PROFILE_COMMENT, print_bare_comment);
	dump_close(&dump);
	return err;
}
