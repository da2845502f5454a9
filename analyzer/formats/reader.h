/* SPDX-License-Identifier: MIT */
/*
 * The room formats/: files of profiles. reader.h is the table of what is read: enter here; a format is a file read_NAME.c and a line in it. heapfile*.c and
 * pprof*.c write as well. Uses stream/, symbols/, model/, io/, text/. Every byte is hostile.
 */

/* reader.h - the table of formats that are read. A new one is a file of its own and one line in reader.c. */
#ifndef HI_READER_H
#define HI_READER_H

#include "input.h"
#include "profile.h"

#define READER_SNIFF_BYTES 4096u

struct reader {
	const char *name; /* as one says it: "heap profile" */
	/* By the first bytes, READER_SNIFF_BYTES of them unless the file is shorter. */
	bool (*recognize)(const uint8_t *bytes, size_t size);
	/*
	 * Into a profile just opened. 0, also where the input is damaged but something was good: then meta.damage says what is wrong and where. -EBADMSG:
	 * nothing was good (likewise); or another negative errno.
	 */
	int (*read)(struct input *input, struct profile *profile);
};
extern const struct reader readers[]; /* the first that recognizes it reads it; ends with name == NULL */

/* As struct reader's read(); -ENODATA: empty; -ENOEXEC: no format of these. Does not own fd. */
int reader_read(int fd, struct profile *profile);

#endif
