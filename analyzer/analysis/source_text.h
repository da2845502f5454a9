/* SPDX-License-Identifier: MIT */
/*
 * source_text.h - the text of source files, found where the debug information says, where the user says that they are now, or at the servers of debuginfod.h.
 *
 * Names in the debug information are hostile input: only regular files are read, up to SOURCE_TEXT_MAX bytes, with the user's own rights, and lines are made
 * safe to print.
 */
#ifndef HI_SOURCE_TEXT_H
#define HI_SOURCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define SOURCE_TEXT_MAX (16u << 20)

/* Where to look, as pprof calls it. All may be NULL. */
struct source_places {
	const char *path;        /* folders, with colons between */
	const char *trim;        /* prefixes, with colons between, that file names begin with elsewhere */
	const uint8_t *build_id; /* of the module that was compiled from it: servers are asked by that */
	size_t build_id_size;
};
struct source_text {
	size_t count;              /* of lines */
	char *path;                /* where it was found; as long as it is open */
	uint64_t modified_unix_ns; /* 0 = it came from a server, as it was compiled */
	char *bytes;               /* the rest is private */
	uint32_t *start;
};

/*
 * Tried in this order: the name as it is or, where it begins with a prefix to trim, the rest of it; then below each folder this name, and then ever shorter
 * ends of it; then the name as it is, by the build-id. A relative name without folders is one below the current folder.
 * 0, -ENOENT (not found, or no file of text), -ENOMEM.
 */
int source_text_open(const struct source_places *places, const char *file, struct source_text *out_text);
void source_text_close(struct source_text *text);
/* A line, the first one being 1, as it is printed: tabs as spaces, nothing at its end. To be freed by the caller; NULL = there is none, or out of memory. */
char *source_text_line(const struct source_text *text, size_t number);
/* A sentence on where it was sought, without an end of line. To be freed by the caller; NULL = out of memory. */
char *source_text_sought(const struct source_places *places, const char *file);

#endif
