/* SPDX-License-Identifier: MIT */
/*
 * source_text.h - the text of source files.
 *
 * A file is looked up where the debug information says it is, where the user says it is, and at the
 * servers of debuginfod.h. Names in the debug information are hostile input: only regular files of
 * up to SOURCE_TEXT_MAX bytes are read, with the user's own rights, and lines are made safe to
 * print.
 */
#ifndef HI_SOURCE_TEXT_H
#define HI_SOURCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define SOURCE_TEXT_MAX (16u << 20)

/* Where to look, in the terms of pprof. Every member may be NULL. */
struct source_places {
	const char *path; /* directories, separated by colons */
	/* prefixes to remove from file names, separated by colons */
	const char *trim;
	/* of a module that was compiled from the file; debuginfod servers are asked by it */
	const uint8_t *build_id;
	size_t build_id_size;
};
struct source_text {
	size_t count; /* of lines */
	char *path;   /* where it was found; lives until source_text_close() */
	/* 0 = the text came from a server and is what was compiled */
	uint64_t modified_unix_ns;
	char *bytes; /* the members from here on are private */
	uint32_t *start;
};

/*
 * Opens the text of a file. These places are tried in this order:
 *
 * 1. the file name, without a prefix that is to be trimmed; a relative name only if `path` is NULL;
 * 2. for each directory of `path`: that name below it, then ever shorter ends of the name;
 * 3. the debuginfod servers: the unchanged file name, by the build-id.
 *
 * A relative name in step 1 is relative to the current directory. Returns 0, -ENOENT (not found, or
 * not a text file) or -ENOMEM.
 */
int source_text_open(const struct source_places *places, const char *file,
		     struct source_text *out_text);
void source_text_close(struct source_text *text);
/*
 * Returns a line ready to print: tabs as spaces, no end of line. The first line is 1. The caller
 * frees it. NULL = no such line, or out of memory.
 */
char *source_text_line(const struct source_text *text, size_t number);
/*
 * Returns a sentence that says where the file was looked up, without an end of line. The caller
 * frees it. NULL = out of memory.
 */
char *source_text_sought(const struct source_places *places, const char *file);

#endif
