/* SPDX-License-Identifier: MIT */
/*
 * Room formats/: files of profiles. Start at reader.h, the table of the formats that are read.
 * A format is a file read_NAME.c and a line in the table. heapfile*.c and pprof*.c write as well;
 * otlp*.c (hi_otlp.h) make requests of pprof's profiles.
 * Uses stream/, symbols/, model/, io/, text/. Every byte that is read is treated as hostile.
 */

/*
 * reader.h - the table of formats that are read. A new one is a file of its own and one line in
 * reader.c.
 */
#ifndef HI_READER_H
#define HI_READER_H

#include "input.h"
#include "profile.h"

#define READER_SNIFF_BYTES 4096u

struct reader {
	const char *name; /* for messages: "heap profile" */
	/*
	 * Recognizes the format by the first bytes of the file: READER_SNIFF_BYTES, or all if the
	 * file is shorter.
	 */
	bool (*recognize)(const uint8_t *bytes, size_t size);
	/*
	 * Reads into an empty, open profile. 0, also if the input is damaged but something was
	 * good: then meta.damage says what is wrong and where. -EBADMSG: nothing was good;
	 * meta.damage says why. Or another negative errno.
	 */
	int (*read)(struct input *input, struct profile *profile);
};
/* the first that recognizes it reads it; ends with name == NULL */
extern const struct reader readers[];

/*
 * Reads a file of any of these formats. Returns as read() of struct reader, and -ENODATA: empty;
 * -ENOEXEC: none of these formats. Does not own fd.
 */
int reader_read(int fd, struct profile *profile);

#endif
