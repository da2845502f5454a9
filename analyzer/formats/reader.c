/* SPDX-License-Identifier: MIT */
/* reader.c - see reader.h. */
#include "reader.h"

#include <errno.h>

#include "heapfile.h"
#include "read_common.h"
#include "read_formats.h"
#include "records.h"
#include "replay.h"

static int read_stream(struct input *input, struct profile *profile)
{
	return replay_stream(input, NULL, profile);
}

const struct reader readers[] = {
	{"record stream", records_recognize, read_stream},
	{"heap profile", heapfile_recognize, heapfile_read},
	{"jemalloc heap profile", read_jemalloc_recognize, read_jemalloc},
	{"symbolized heap profile", read_symbolized_recognize, read_symbolized},
	{"heaptrack recording", read_heaptrack_recognize, read_heaptrack},
	{"heap profile of Java", read_java_recognize, read_java},
	{"no heap profile", refused_recognize, refused_read},
	{"pprof profile", read_pprof_recognize, read_pprof},
	{"collapsed stacks", read_collapsed_recognize, read_collapsed},
	{NULL, NULL, NULL},
};

static int unrecognized(const struct input *input, size_t size, struct profile *profile)
{
	if (!input->err)
		return size ? -ENOEXEC : -ENODATA;
	if (input->err == EBADMSG)
		read_damage(profile, "%s", input_complaint(input));
	return -input->err;
}

int reader_read(int fd, struct profile *profile)
{
	const struct reader *reader = readers;
	struct input input;
	const uint8_t *bytes;
	size_t size;
	int err = input_open(&input, fd);

	if (err)
		return err;
	err = input_unpack(&input);
	if (err) {
		input_close(&input);
		return err;
	}
	size = input_peek(&input, READER_SNIFF_BYTES, &bytes);
	while (reader->name &&
	       !reader->recognize(bytes, size < READER_SNIFF_BYTES ? size : READER_SNIFF_BYTES))
		reader++;
	if (reader->name)
		err = reader->read(&input, profile);
	else
		err = unrecognized(&input, size, profile);
	input_close(&input);
	return err;
}
