/* SPDX-License-Identifier: MIT */
/*
 * protobuf.h - the few parts of the protobuf wire format that pprof's profile.proto and OTLP need.
 * All input is treated as hostile.
 *
 * Writing appends to a growing buffer. A message inside another is built in a buffer of its own and
 * then added as a field. Out of memory is remembered in `failed`; check it once, at the end.
 */
#ifndef HI_PROTOBUF_H
#define HI_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialized = empty. */
struct protobuf {
	uint8_t *bytes;
	size_t size, capacity;
	bool failed;
};

/* 0 is the default and is left out */
void protobuf_number(struct protobuf *message, unsigned int field, uint64_t value);
/* Likewise, but 0 is there: that a member of a oneof is there says which one is set. */
void protobuf_oneof_number(struct protobuf *message, unsigned int field, uint64_t value);
void protobuf_fixed64(struct protobuf *message, unsigned int field, uint64_t value);
void protobuf_string(struct protobuf *message, unsigned int field, const char *text);
void protobuf_bytes(struct protobuf *message, unsigned int field, const void *bytes, size_t size);
void protobuf_message(struct protobuf *message, unsigned int field, const struct protobuf *inner);
void protobuf_packed(struct protobuf *message, unsigned int field, const uint64_t *value,
		     size_t count);
/* Appends fields that are encoded already. */
void protobuf_fields(struct protobuf *message, const void *bytes, size_t size);
/* Empties it for the next message of the kind; keeps its memory. */
void protobuf_reset(struct protobuf *message);
void protobuf_close(struct protobuf *message);

/* ---- reading --------------------------------------------------------------------------------- */

/* The rest of a message, [at, end). */
struct protobuf_rest {
	const uint8_t *at, *end;
};
struct protobuf_field {
	unsigned int number;
	uint64_t value;       /* of a number */
	const uint8_t *bytes; /* of a string, a message or packed numbers; NULL: it is a number */
	size_t size;
};
/*
 * Takes the next field. 0, -ENODATA at the end, -EBADMSG if it makes no sense or is cut off: then
 * nothing is taken.
 */
int protobuf_next(struct protobuf_rest *rest, struct protobuf_field *out_field);
/* Takes the next of packed numbers. Likewise. */
int protobuf_next_number(struct protobuf_rest *rest, uint64_t *out_value);
/*
 * The contents of a field, to be read by protobuf_next() as a message or by protobuf_next_number().
 * Empty for a number.
 */
struct protobuf_rest protobuf_inside(const struct protobuf_field *field);

#endif
