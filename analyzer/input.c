/* SPDX-License-Identifier: MIT */
/*
 * input.c - see input.h. The buffer grows to what is peeked at, which the readers bound. Start at input_peek().
 */
#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT_CHUNK (256u << 10) /* many times the records there are most of: what is left of one when the next ones are read is moved */

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
	free(input->buffer);
	*input = (struct input){.fd = -1};
}

/* What is left moves to the front, so that records stay aligned to 8 in memory: they are so in the file. */
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

static void input_read(struct input *input)
{
	ssize_t got;

	do
		got = read(input->fd, input->buffer + input->end, input->capacity - input->end);
	while (got < 0 && errno == EINTR);
	if (got > 0) {
		input->end += (size_t)got;
		return;
	}
	input->error = got < 0 ? errno : 0;
	input->at_end = true;
}

size_t input_peek(struct input *input, size_t wanted, const uint8_t **out_bytes)
{
	if (input->end - input->begin < wanted && !input->at_end && input_make_room(input, wanted)) {
		input->error = ENOMEM;
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
		for (size_t i = 0; i < kept; i++)
			line[length++] = bytes[i] ? (char)bytes[i] : '?';
		cut = cut || kept < part;
		any = true;
		input_skip(input, newline ? part + 1 : part);
	}
	line[length] = 0;
	*out_whole = newline && !cut;
	return any;
}
