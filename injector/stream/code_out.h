/* SPDX-License-Identifier: MIT */
/*
 * code_out.h - CODE records: names of a JVM's code and of what its interpreter runs, each before
 * the first stack through it.
 */
#ifndef HI_CODE_OUT_H
#define HI_CODE_OUT_H

#include "hotspot.h"
#include "hotspot_methods.h"
#include "stream_out.h"

/* What the stream has: of several pieces with the same place in the table, the last one. */
#define CODE_OUT_BITS 12

struct code_out {
	const struct hotspot *hotspot; /* NULL: there is no code to name */
	const struct memory *memory;
	struct stream_out *out;
	struct hotspot_blob *sent; /* 1 << CODE_OUT_BITS of them; NULL = none yet */
	struct hotspot_methods methods;
	/*
	 * hash table of the names of methods that the stream has, by hash; 0 = free. NULL = none
	 * yet. No more than a reader takes, as names of generated classes never end
	 */
	uint64_t *named;
	size_t named_count;
	bool is_full; /* and the stream has a name for those that are one too many */
};

struct code_out_frames {
	uint64_t *frame; /* as the payload has them */
	uint32_t count;
	uint64_t cycles;  /* when they were recorded */
	uint64_t time_ns; /* of the stream, now */
};

/* Sees whether methods may be others by now. */
void code_out_look(struct code_out *code);

/*
 * Writes names of methods among the frames (HI_FRAME_METHOD), and replaces each by the address that
 * stands for its name in the stream. *out_names: 0 = there is no method; else by this number stacks
 * of other methods at the same addresses are told apart. 0, or the error of the output.
 */
must_check int code_out_methods(struct code_out *code, struct code_out_frames frames,
				uint32_t *out_names);
/* Writes names of code that the frames return to. What cannot be read is left out. */
must_check int code_out_frames(struct code_out *code, struct code_out_frames frames);
void code_out_close(struct code_out *code);

#endif
