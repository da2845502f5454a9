/* SPDX-License-Identifier: MIT */
/*
 * input.h - a file descriptor, read once from front to end through a buffer that shows what comes next.
 *
 * Lets the formats be told apart by their first bytes even on a pipe, and lets readers say where the damage is. A compressed file is read as what is in it.
 * Owns the buffer, not the descriptor.
 */
#ifndef HI_INPUT_H
#define HI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
	int fd;
	int error;            /* errno of a failed read, which counts as the end; 0 = none */
	bool at_end;          /* nothing more to read behind the buffer */
	uint64_t position;    /* in the file, or in what was in it, of the next byte */
	uint64_t line_number; /* of the line that was taken last, from 1 */
	uint8_t *buffer;      /* the rest is private */
	size_t capacity, begin, end;
	struct unpack *unpack; /* NULL: it is not compressed */
};

/* 0 or -ENOMEM. */
int input_open(struct input *input, int fd);
void input_close(struct input *input);
/* At the beginning: if the file is compressed, what comes from now on is what is in it. 0 or -ENOMEM. */
int input_unpack(struct input *input);
/* What is wrong, if `error` is set. */
const char *input_complaint(const struct input *input);
/* The next bytes, without taking them: at least `wanted`, fewer only at the end of the file or of memory. Valid until the next call. */
size_t input_peek(struct input *input, size_t wanted, const uint8_t **out_bytes);
/* Takes bytes that were peeked at. */
void input_skip(struct input *input, size_t size);
/*
 * Takes the next line, without its newline, into line[size]; false at the end. What does not fit is dropped; a line that was cut so, or by the end of the
 * file, is not whole. Ends with NUL; a NUL inside becomes '?'.
 */
bool input_line(struct input *input, char *line, size_t size, bool *out_whole);

#endif
