/* SPDX-License-Identifier: MIT */
/*
 * input.c - see input.h. The buffer grows to what is peeked at, which the readers bound. Start at
 * input_peek().
 */
#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unpack.h"

#define MAGIC_BYTES 4u
/* many times the most frequent records: each read first moves the rest of an incomplete record */
#define INPUT_CHUNK (256u << 10)

int input_open(struct input *input, int fd)
{
	*input = (struct input){.fd = fd};
	input->buffer = malloc(INPUT_CHUNK);
	if (!input->buffer)
		return -ENOMEM;
	input->capacity = INPUT_CHUNK;
	return 0;
}

void input_close(struct input *input)
{
	unpack_close(input->unpack);
	free(input->buffer);
	*input = (struct input){.fd = -1};
}

/*
 * Moves the rest of the buffer to the front, so that records are aligned to 8 in memory, as they
 * are in the file. Grows the buffer to `wanted`.
 */
static int input_make_room(struct input *input, size_t wanted)
{
	size_t capacity = input->capacity;
	uint8_t *grown;

	memmove(input->buffer, input->buffer + input->begin, input->end - input->begin);
	input->end -= input->begin;
	input->begin = 0;
	while (capacity < wanted)
		capacity *= 2;
	if (capacity == input->capacity)
		return 0;
	grown = realloc(input->buffer, capacity);
	if (!grown)
		return -ENOMEM;
	input->buffer = grown;
	input->capacity = capacity;
	return 0;
}

/* Bytes, 0 at the end, or a negative errno. */
static ssize_t read_more(struct input *input)
{
	uint8_t *const to = input->buffer + input->end;
	const size_t room = input->capacity - input->end;
	ssize_t got;

	if (input->unpack)
		return unpack_read(input->unpack, to, room);
	do
		got = read(input->fd, to, room);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static void input_read(struct input *input)
{
	const ssize_t got = read_more(input);

	if (got > 0) {
		input->end += (size_t)got;
		return;
	}
	input->err = got < 0 ? (int)-got : 0;
	input->at_end = true;
}

int input_unpack(struct input *input)
{
	const uint8_t *bytes;
	const size_t size = input_peek(input, MAGIC_BYTES, &bytes);

	if (!unpack_recognize(bytes, size))
		return 0;
	if (unpack_open(input->fd, bytes, size, &input->unpack))
		return -ENOMEM;
	input->begin = input->end = 0;
	input->at_end = false;
	return 0;
}

const char *input_complaint(const struct input *input)
{
	const char *complaint = input->unpack ? unpack_complaint(input->unpack) : NULL;

	return complaint ? complaint : strerror(input->err);
}

size_t input_peek(struct input *input, size_t wanted, const uint8_t **out_bytes)
{
	if (input->end - input->begin < wanted && !input->at_end &&
	    input_make_room(input, wanted)) {
		input->err = ENOMEM;
		input->at_end = true;
	}
	while (input->end - input->begin < wanted && !input->at_end)
		input_read(input);
	*out_bytes = input->buffer + input->begin;
	return input->end - input->begin;
}

void input_skip(struct input *input, size_t size)
{
	input->begin += size;
	input->position += size;
}

static void copy_without_nul(char *to, const uint8_t *from, size_t size)
{
	memcpy(to, from, size);
	for (char *at = to; (at = memchr(at, 0, size - (size_t)(at - to))); at++)
		*at = '?';
}

bool input_line(struct input *input, char *line, size_t size, bool *out_whole)
{
	const uint8_t *bytes, *newline = NULL;
	size_t length = 0, available;
	bool any = false, cut = false;

	while (!newline && (available = input_peek(input, 1, &bytes)) > 0) {
		size_t part, kept;

		newline = memchr(bytes, '\n', available);
		part = newline ? (size_t)(newline - bytes) : available;
		kept = part < size - 1 - length ? part : size - 1 - length;
		copy_without_nul(line + length, bytes, kept);
		length += kept;
		cut = cut || kept < part;
		any = true;
		input_skip(input, newline ? part + 1 : part);
	}
	/* As of files that came by way of Windows, or of a mail. */
	if (newline && !cut && length && line[length - 1] == '\r')
		length--;
	line[length] = 0;
	input->line_number += any;
	*out_whole = newline && !cut;
	return any;
}
