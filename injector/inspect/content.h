/* SPDX-License-Identifier: MIT */
/*
 * content.h - what a block holds, as far as its first bytes show it.
 */
#ifndef HI_CONTENT_H
#define HI_CONTENT_H

#include "block_index.h"
#include "type_info.h"

enum content_kind {
	CONTENT_OBJECT,   /* of a C++ class with virtual functions */
	CONTENT_TEXT,     /* a string */
	CONTENT_POINTERS, /* most words are addresses of blocks */
	CONTENT_ZERO,     /* nothing but zeros */
	CONTENT_OTHER,
	CONTENT_UNKNOWN, /* its first bytes are not resident */
	CONTENT_KINDS
};

#define CONTENT_BYTES 1024u /* of a block that are looked at, at most */

struct content {
	enum content_kind kind;
	uint32_t type; /* of an object: of type_info.h */
};

struct content_reader {
	struct type_infos types;
	struct block_index index; /* of the blocks in use, which words may be pointers to */
};

/* byte: the first ones of the block, `size` of them. */
struct content content_of(struct content_reader *reader, const uint8_t *byte, size_t size);
/* As in JSON and tables: "text". */
const char *content_name(enum content_kind kind);

#endif
