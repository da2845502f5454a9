/* SPDX-License-Identifier: MIT */
/* code_out.h - CODE records: names of a JVM's code, each before the first stack through it. */
#ifndef HI_CODE_OUT_H
#define HI_CODE_OUT_H

#include "hotspot.h"
#include "stream_out.h"

/* What the stream has: of several pieces with the same place in the table, the last one. */
#define CODE_OUT_BITS 12

struct code_out {
	struct hotspot_blob *sent; /* 1 << CODE_OUT_BITS of them; NULL = none yet */
};

struct code_out_stream {
	struct stream_out *out;
	uint64_t time_ns;
};

/*
 * frames: return addresses. A name that cannot be read is left out. 0, or the error of the output.
 */
must_check int code_out_frames(struct code_out *code, const struct hotspot *hotspot,
			       const struct memory *memory, const struct code_out_stream *stream,
			       const struct stream_part *frames);
void code_out_close(struct code_out *code);

#endif
