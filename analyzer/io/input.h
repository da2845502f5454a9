/* SPDX-License-Identifier: MIT */
/*
 * Room io/: files and programs, read and written. Start at input.h, which unpacks by unpack.h;
 * output_file.h writes, program.h has another program work. Uses text/ only.
 */

/*
 * input.h - a file descriptor, read once from front to end through a buffer that allows peeking
 * ahead.
 *
 * So formats can be told apart by their first bytes even on a pipe, and readers can say where the
 * damage is. A compressed file is read as its unpacked contents. Owns the buffer, not the
 * descriptor.
 */
#ifndef HI_INPUT_H
#define HI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
	int fd;
	int err;              /* errno of a failed read, which counts as the end; 0 = none */
	bool at_end;          /* nothing more to read after the buffer */
	uint64_t position;    /* of the next byte, in the file or in its unpacked contents */
	uint64_t line_number; /* of the line that was taken last, from 1 */
	uint8_t *buffer;      /* the rest is private */
	size_t capacity, begin, end;
	struct unpack *unpack; /* NULL: it is not compressed */
};

/* 0 or -ENOMEM. */
int input_open(struct input *input, int fd);
void input_close(struct input *input);
/*
 * Call this at the beginning. If the file is compressed, what is read from now on is its unpacked
 * contents. 0 or -ENOMEM.
 */
int input_unpack(struct input *input);
/* What is wrong, if `error` is set. */
const char *input_complaint(const struct input *input);
/*
 * The next bytes, without taking them: at least `wanted`, fewer only at the end of the file or
 * without memory. Valid until the next call.
 */
size_t input_peek(struct input *input, size_t wanted, const uint8_t **out_bytes);
/* Takes bytes that were peeked at. */
void input_skip(struct input *input, size_t size);
/*
 * Takes the next line, without its newline and a carriage return before that, into line[size];
 * false at the end. What does not fit is dropped. *out_whole is false if the line was cut by that,
 * or by the end of the file. The line ends with NUL; a NUL inside it becomes '?'.
 */
bool input_line(struct input *input, char *line, size_t size, bool *out_whole);

#endif
