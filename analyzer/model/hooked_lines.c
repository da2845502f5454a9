/* SPDX-License-Identifier: MIT */
/* hooked_lines.c - see hooked_lines.h. */
#include "hooked_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"

#define LINES_MAX 16u
#define LINE_SIZE_MAX 600u

const char *hooked_lines_next(const char **cursor, size_t *out_size)
{
	const char *line = *cursor;

	if (!line || !*line)
		return NULL;
	*out_size = strcspn(line, "\n");
	*cursor = line + *out_size + (line[*out_size] == '\n');
	return line;
}

/* May the line be added? */
static bool is_welcome(const struct profile_meta *meta, const char *text)
{
	const char *cursor = meta->hooked, *line;
	size_t size, lines = 0;

	while ((line = hooked_lines_next(&cursor, &size)) != NULL) {
		if (size == strlen(text) && strncmp(line, text, size) == 0)
			return false;
		lines++;
	}
	return *text && lines < LINES_MAX;
}

int hooked_lines_add(struct profile_meta *meta, const char *text, size_t size)
{
	char *line = strndup(text, size < LINE_SIZE_MAX ? size : LINE_SIZE_MAX), *all = NULL;

	if (!line)
		return -ENOMEM;
	printable(line);
	if (!is_welcome(meta, line)) {
		free(line);
		return 0;
	}
	if (asprintf(&all, "%s%s\n", meta->hooked ? meta->hooked : "", line) < 0)
		all = NULL;
	free(line);
	if (!all)
		return -ENOMEM;
	free(meta->hooked);
	meta->hooked = all;
	return 0;
}

int hooked_lines_take_over(struct profile_meta *to, const struct profile_meta *from)
{
	const char *cursor = from->hooked, *line;
	size_t size;
	int err = 0;

	while (!err && (line = hooked_lines_next(&cursor, &size)) != NULL)
		err = hooked_lines_add(to, line, size);
	return err;
}
