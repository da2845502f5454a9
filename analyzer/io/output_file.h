/* SPDX-License-Identifier: MIT */
/*
 * output_file.h - a file that appears under its name only when it is complete.
 *
 * It is written under a temporary name beside its own, and renamed at the end, so that a failure
 * leaves an older file alone. If the path is no regular file (/dev/null, a pipe), it is written
 * directly.
 */
#ifndef HI_OUTPUT_FILE_H
#define HI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct output_file {
	FILE *stream;
	const char *path; /* as given; NULL = standard output */
	char *temporary;  /* NULL = written directly */
	char *buffer;     /* of the stream; private */
};

/* path NULL = standard output. path must outlive it. 0 or negative errno. */
int output_open(struct output_file *out_file, const char *path);
/*
 * True if the output may be seen while it is written: on a terminal, or at the other end of a pipe.
 */
bool output_is_seen(const struct output_file *file);
/* Completes the file. 0, or negative errno: then no new file is left. */
int output_close(struct output_file *file);
void output_abandon(struct output_file *file);

#endif
