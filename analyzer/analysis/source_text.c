/* SPDX-License-Identifier: MIT */
/*
 * source_text.c - see source_text.h.
 */
#include "source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debuginfod.h"
#include "printable.h"
#include "table.h"

#define TAB_STOP 8u

/* ---- where ----------------------------------------------------------------------------------- */

/*
 * Takes the next non-empty name of a list that is separated by colons, and advances *at. False at
 * the end of the list.
 */
static bool next_name(const char **at, const char **out_name, size_t *out_size)
{
	while (*at && **at) {
		const size_t size = strcspn(*at, ":");
		*out_name = *at;
		*out_size = size;
		*at += size + ((*at)[size] == ':');
		if (size)
			return true;
	}
	return false;
}

/*
 * The file name without a prefix that is to be trimmed. A prefix matches only whole path
 * components.
 */
static const char *trimmed(const struct source_places *places, const char *file)
{
	const char *at = places->trim, *name;
	size_t size;

	while (next_name(&at, &name, &size)) {
		while (size > 1 && name[size - 1] == '/')
			size--;
		if (strncmp(file, name, size) == 0 && file[size] == '/')
			return file + size + strspn(file + size, "/");
	}
	return file;
}

/*
 * Takes ownership of fd. Returns fd if it is a regular file of at most SOURCE_TEXT_MAX bytes;
 * otherwise closes it and returns -1, since reading a pipe or a device could block.
 */
static int check_regular(int fd, struct stat *out_status)
{
	if (fd >= 0 && (fstat(fd, out_status) || !S_ISREG(out_status->st_mode) ||
			out_status->st_size > SOURCE_TEXT_MAX)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int open_regular(const char *path, struct stat *out_status)
{
	return check_regular(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), out_status);
}

/* Searches below one directory: the whole name, then the part after each slash of it. */
static int open_below(const char *directory, size_t directory_size, const char *name,
		      char path[PATH_MAX], struct stat *out_status)
{
	int fd = -1;

	for (const char *at = name; at && fd < 0; at = strchr(at, '/')) {
		at += strspn(at, "/");
		if (*at && snprintf(path, PATH_MAX, "%.*s/%s", (int)directory_size, directory, at) <
				   PATH_MAX)
			fd = open_regular(path, out_status);
	}
	return fd;
}

static int open_anywhere(const struct source_places *places, const char *file, char path[PATH_MAX],
			 struct stat *out_status)
{
	const char *name = trimmed(places, file), *at = places->path, *directory;
	size_t size;
	int fd = -1;

	if ((*name == '/' || !places->path) && snprintf(path, PATH_MAX, "%s", name) < PATH_MAX)
		fd = open_regular(path, out_status);
	while (fd < 0 && next_name(&at, &directory, &size)) {
		if (size < PATH_MAX)
			fd = open_below(directory, size, name, path, out_status);
	}
	return fd;
}

static int open_from_server(const struct source_places *places, const char *file,
			    char path[PATH_MAX], struct stat *out_status)
{
	if (!places->build_id || snprintf(path, PATH_MAX, "%s", file) >= PATH_MAX)
		return -1;
	return check_regular(debuginfod_open_source(places->build_id, places->build_id_size, file),
			     out_status);
}

char *source_text_sought(const struct source_places *places, const char *file)
{
	const char *name = trimmed(places, file);
	char *text;
	int size;

	if (places->path && *name == '/')
		size = asprintf(&text, "no source: looked for %s, and for its end below %s", name,
				places->path);
	else if (places->path)
		size = asprintf(&text, "no source: looked for %s and its end below %s", name,
				places->path);
	else
		size = asprintf(
			&text,
			"no source: looked for %s; --source-path names directories with sources",
			name);
	if (size < 0)
		return NULL;
	printable(text);
	return text;
}

/* ---- what ------------------------------------------------------------------------------------ */

/* Reads from offset 0: the descriptor's file position is arbitrary. */
static char *read_whole(int fd, size_t expected, size_t *out_size)
{
	char *text = malloc(expected + 1);
	size_t size = 0;
	ssize_t got;

	if (!text)
		return NULL;
	while (size < expected && (got = pread(fd, text + size, expected - size, (off_t)size)) > 0)
		size += (size_t)got;
	text[size] = '\0';
	*out_size = size;
	return text;
}

/* A line ready to print: tabs as spaces, nothing that moves the cursor. */
static char *clean_line(const char *line, size_t size)
{
	size_t tabs = 0, to = 0;

	while (size && (line[size - 1] == '\n' || line[size - 1] == '\r' || line[size - 1] == ' ' ||
			line[size - 1] == '\t'))
		size--;
	for (size_t i = 0; i < size; i++)
		tabs += line[i] == '\t';
	char *clean = malloc(size + tabs * (TAB_STOP - 1) + 1);
	if (!clean)
		return NULL;
	for (size_t i = 0; i < size; i++) {
		if (line[i] != '\t') {
			clean[to++] = line[i] ? line[i] : '?';
			continue;
		}
		do
			clean[to++] = ' ';
		while (to % TAB_STOP);
	}
	clean[to] = '\0';
	printable(clean);
	return clean;
}

/* start[n] is where line n + 1 begins, start[count] where the next one would. */
static int find_lines(size_t size, struct source_text *text)
{
	size_t room = 0;

	for (size_t at = 0;; text->count++) {
		const char *end = at < size ? memchr(text->bytes + at, '\n', size - at) : NULL;
		if (array_reserve(&text->start, &room, text->count, sizeof(*text->start)))
			return -ENOMEM;
		text->start[text->count] = (uint32_t)at;
		if (at >= size)
			return 0;
		at = end ? (size_t)(end - text->bytes) + 1 : size;
	}
}

char *source_text_line(const struct source_text *text, size_t number)
{
	if (number == 0 || number > text->count)
		return NULL;
	return clean_line(text->bytes + text->start[number - 1],
			  text->start[number] - text->start[number - 1]);
}

int source_text_open(const struct source_places *places, const char *file,
		     struct source_text *out_text)
{
	char path[PATH_MAX];
	struct source_text text = {0};
	struct stat status;
	size_t size = 0;
	int fd = open_anywhere(places, file, path, &status);
	const bool is_here = fd >= 0;

	if (!is_here)
		fd = open_from_server(places, file, path, &status);
	if (fd < 0)
		return -ENOENT;
	text.bytes = read_whole(fd, (size_t)status.st_size, &size);
	close(fd);
	text.path = strdup(path);
	if (is_here)
		text.modified_unix_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000u +
					(uint64_t)status.st_mtim.tv_nsec;
	const int err = text.bytes && text.path ? find_lines(size, &text) : -ENOMEM;
	if (err) {
		source_text_close(&text);
		return err;
	}
	printable(text.path);
	*out_text = text;
	return 0;
}

void source_text_close(struct source_text *text)
{
	free(text->bytes);
	free(text->start);
	free(text->path);
	*text = (struct source_text){0};
}
