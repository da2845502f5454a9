/* SPDX-License-Identifier: MIT */
/*
 * otlp_source.h - a message of pprof's profile.proto, taken apart as far as OTLP wants to know: its
 * tables by number, and what is said of the whole profile. Points into the message.
 */
#ifndef HI_OTLP_SOURCE_H
#define HI_OTLP_SOURCE_H

#include <stdbool.h>

#include "protobuf.h"

#define OTLP_TYPES_MAX 16u

/* An entry of a table; it gets a number in the dictionary when it is first used. */
struct otlp_part {
	const uint8_t *bytes;
	size_t size;
	uint64_t number;
	bool has_number;
};
struct otlp_parts {
	struct otlp_part *part;
	size_t count, capacity;
};
struct otlp_numbers {
	uint64_t *number;
	size_t count, capacity;
};
struct otlp_value_type {
	uint64_t type, unit; /* string numbers */
};
struct otlp_source {
	const void *message;
	size_t size;
	/* strings by their number, the others by id - 1 */
	struct otlp_parts strings, mappings, locations, functions;
	struct otlp_numbers comments;
	struct otlp_value_type type[OTLP_TYPES_MAX], period_type;
	size_t type_count;
	uint64_t period, default_type;
	int err; /* of all that was read; negative errno */
};

/* source: zeroed but for the message. Sets err if the message makes no sense. */
void otlp_source_read(struct otlp_source *source);
struct protobuf_rest otlp_source_all(const struct otlp_source *source);
/* Takes the next field. False at the end, and if there is an error, which is remembered. */
bool otlp_source_next(struct otlp_source *source, struct protobuf_rest *rest,
		      struct protobuf_field *out_field);
/* Adds the numbers of a field, which has one or is packed. */
void otlp_source_numbers(struct otlp_source *source, const struct protobuf_field *field,
			 struct otlp_numbers *to);
/* NULL, and an error: it is not there. */
struct otlp_part *otlp_source_part(struct otlp_source *source, struct otlp_parts *parts,
				   uint64_t index);
/* A printable copy of a string, which the caller frees. NULL, and an error: likewise. */
char *otlp_source_text(struct otlp_source *source, uint64_t string);
void otlp_source_close(struct otlp_source *source);

#endif
