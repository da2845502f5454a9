/* SPDX-License-Identifier: MIT */
/*
 * code_lines.h - the instructions of some functions, by the source line that they come from.
 *
 * An instruction of an inlined function belongs to the line of that function and, as long as these
 * functions are wanted, to the line of each call that it is inlined by.
 */
#ifndef HI_CODE_LINES_H
#define HI_CODE_LINES_H

#include "code_sums.h"
#include "disassembler.h"

struct code_line {
	uint32_t function;
	const char *file; /* NULL = unknown */
	uint32_t line;    /* 0 = unknown */
	const struct code_block *block;
	uint64_t address;
	uint32_t size;
	/* the place of the innermost inlined call; file NULL = it is this line, or is unknown */
	const char *inlined_file;
	uint32_t inlined_line;
};
/* Zero-initialized = empty. */
struct code_lines {
	struct code_line *at;
	size_t count;
	bool is_cut; /* there are more than CODE_LINES_MAX, or a function is too long */
	size_t room; /* the members from here on are private */
	char **file;
	size_t file_count, file_room;
};
#define CODE_LINES_MAX 200000u
#define CODE_LINES_BYTES_MAX (1u << 20) /* of one function */

struct code_lines_wish {
	const struct functions *functions;
	const bool *wanted; /* by function */
	/* makes a path that debug information has, in place, one as the profile has; NULL = is one
	 */
	void (*trim)(char *path, const void *context);
	const void *trim_context;
};

/*
 * Adds the instructions of a block, whose code is there. Names that are compared are those of the
 * debug information with those of the profile; the owner of the block is known without. 0;
 * -ENODATA: the file has no bytes there; -ENOMEM.
 */
int code_lines_add(struct code_lines *lines, const struct code_lines_wish *wish,
		   const struct disassembler *disassembler, const struct code_sums *sums,
		   const struct code_block *block);
/* By function, file, line and address. */
void code_lines_sort(struct code_lines *lines);
/* The first one of a function and a file (NULL = unknown). *out_end: after the last one. */
size_t code_lines_of(const struct code_lines *lines, uint32_t function, const char *file,
		     size_t *out_end);
void code_lines_close(struct code_lines *lines);

#endif
