/* SPDX-License-Identifier: MIT */
/* reader.c - see reader.h. */
#include "reader.h"

#include <errno.h>

#include "heapfile.h"
#include "records.h"
#include "replay.h"

static int read_stream(struct input *input, struct profile *profile)
{
	return replay_stream(input, NULL, profile);
}

const struct reader readers[] = {
	{"record stream", records_recognize, read_stream},
	{"heap profile", heapfile_recognize, heapfile_read},
	{NULL, NULL, NULL},
};

int reader_read(int fd, struct profile *profile)
{
	const struct reader *reader = readers;
	struct input input;
	const uint8_t *bytes;
	size_t size;
	int error = input_open(&input, fd);

	if (error)
		return error;
	size = input_peek(&input, READER_SNIFF_BYTES, &bytes);
	while (reader->name && !reader->recognize(bytes, size))
		reader++;
	if (reader->name)
		error = reader->read(&input, profile);
	else
		error = input.error ? -input.error : size ? -ENOEXEC : -ENODATA;
	input_close(&input);
	return error;
}
