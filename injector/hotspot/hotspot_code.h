/* SPDX-License-Identifier: MIT */
/*
 * hotspot_code.h - the pieces of code that a JVM has now ("code blobs"): compiled methods, stubs,
 * the interpreter.
 *
 * A code heap is a row of segments, and a second memory has a byte for each of them: zero where a
 * block begins. Each block in use has a header, a CodeBlob, and its code. The JVM runs on while
 * they are read, so a block may be half made or half gone: what contradicts itself is left out, and
 * is there in the next look.
 */
#ifndef HI_HOTSPOT_CODE_H
#define HI_HOTSPOT_CODE_H

#include "hotspot_layout.h"
#include "hotspot_texts.h"

#define HOTSPOT_HEAPS_MAX 8u
#define HOTSPOT_BLOBS_MAX 131072u /* a large application server has a quarter as many */

enum hotspot_kind {
	HOTSPOT_STUB,        /* a frame of known size, or none at all */
	HOTSPOT_COMPILED,    /* a method, be it only the wrapper of a native one */
	HOTSPOT_INTERPRETER, /* its frames have a frame pointer */
	HOTSPOT_CALL_STUB,   /* from native code into Java: frame pointers, too */
};

struct hotspot_blob {
	remote_addr lo, hi; /* its code */
	remote_addr method; /* of COMPILED: its Method; 0 = not known */
	/* number in texts: the kind of blob, and of others than COMPILED the name */
	uint32_t text;
	uint32_t frame_words; /* with return address and saved bp; 0 = not known */
	uint32_t complete;    /* from this offset on the frame is complete */
	uint32_t kind;        /* enum hotspot_kind */
	/* of INTERPRETER: method_slot of the layout. 4 bytes: blobs are compared as bytes */
	int32_t method_slot;
};

struct hotspot_heap {
	remote_addr lo, hi; /* what of it is committed */
	remote_addr end;    /* of what is reserved for it */
	size_t first, count;
};

/* A byte for each segment of the heap that begins at lo, as the JVM had it. */
struct hotspot_map {
	remote_addr lo;
	uint8_t *byte;
	size_t segments;
};

struct hotspot_code {
	struct hotspot_heap heap[HOTSPOT_HEAPS_MAX]; /* sorted */
	struct hotspot_map map[HOTSPOT_HEAPS_MAX];   /* in no order */
	size_t heap_count;
	struct hotspot_blob *blob; /* sorted, heap by heap */
	size_t blob_count, blob_room;
};

/* Only where the heaps are, and how much is reserved for them. */
must_check int hotspot_heaps_read(const struct hotspot_layout *layout, const struct memory *memory,
				  struct hotspot_code *out_code);
/*
 * All code. before: what was read earlier, and is taken from there where the segments are the same,
 * which takes a fraction of the time; another block of the same size may be in the place of one
 * that was dropped. NULL: everything is read. *code is what an earlier call has made, or zeros; on
 * failure it is closed. -EPROTO: the heaps are not as described; -ENOBUFS: more blobs than
 * HOTSPOT_BLOBS_MAX; -ENOMEM.
 */
must_check int hotspot_code_read(const struct hotspot_layout *layout, const struct memory *memory,
				 struct hotspot_texts *texts, const struct hotspot_code *before,
				 struct hotspot_code *code);
void hotspot_code_close(struct hotspot_code *code);

#endif
