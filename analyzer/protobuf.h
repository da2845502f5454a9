/* SPDX-License-Identifier: MIT */
/*
 * protobuf.h - the few parts of the protobuf wire format that pprof's profile.proto needs.
 *
 * Appends to a growing buffer. A message inside another is built in a buffer of its own and then put in as a field. Out of memory is
 * remembered in `failed`; check it once, at the end.
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

void protobuf_number(struct protobuf *message, unsigned int field, uint64_t value); /* 0 is the default and is left out */
void protobuf_string(struct protobuf *message, unsigned int field, const char *text);
void protobuf_message(struct protobuf *message, unsigned int field, const struct protobuf *inner);
void protobuf_packed(struct protobuf *message, unsigned int field, const uint64_t *value, size_t count);
/* Empties it for the next message of the kind; keeps its memory. */
void protobuf_reset(struct protobuf *message);
void protobuf_close(struct protobuf *message);

#endif
