/* SPDX-License-Identifier: MIT */
/*
 * perfmap.c - see perfmap.h.
 *
 * A JIT compiler reuses addresses and appends, so of two entries at one address the later one
 * counts.
 */
#include "perfmap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (64u << 20) /* what lies beyond is not read */

struct perfmap_entry {
	uint64_t lo, hi;
	const char *name;
};

/* By address, the later line first. */
static int compare_entries(const void *left, const void *right)
{
	const struct perfmap_entry *a = left, *b = right;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return a->name > b->name ? -1 : a->name < b->name;
}

static int parse_line(char *line, struct perfmap_entry *out_entry)
{
	uint64_t size;
	int name_at = 0;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &out_entry->lo, &size, &name_at) != 2 ||
	    name_at == 0 || !line[name_at])
		return -EINVAL;
	out_entry->name = line + name_at;
	return __builtin_add_overflow(out_entry->lo, size, &out_entry->hi) ? -EINVAL : 0;
}

int perfmap_parse(char *text, struct perfmap *out_map)
{
	struct perfmap map = {.text = text};
	size_t lines = 1, kept = 0;
	char *rest = text, *line;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	map.entry = malloc(lines * sizeof(*map.entry));
	if (!map.entry) {
		free(text);
		return -ENOMEM;
	}
	while ((line = strsep(&rest, "\n"))) {
		if (parse_line(line, &map.entry[map.count]) == 0)
			map.count++;
	}
	qsort(map.entry, map.count, sizeof(*map.entry), compare_entries);
	for (size_t i = 0; i < map.count; i++) {
		if (kept == 0 || map.entry[i].lo != map.entry[kept - 1].lo)
			map.entry[kept++] = map.entry[i];
	}
	map.count = kept;
	*out_map = map;
	return 0;
}

static char *read_text(int fd)
{
	struct stat status;
	size_t size = 0;
	ssize_t got = 1;

	if (fstat(fd, &status))
		return NULL;
	const size_t room = status.st_size > FILE_MAX ? FILE_MAX : (size_t)status.st_size;
	char *text = malloc(room + 1);
	while (text && size < room && (got = pread(fd, text + size, room - size, (off_t)size)) > 0)
		size += (size_t)got;
	if (text)
		text[size] = 0;
	return text;
}

int perfmap_open(const struct file_source *source, struct perfmap *out_map)
{
	struct hi_file_request request = {.kind = HI_FILE_PERF_MAP};
	int fd = -ENOENT;

	for (; request.place < HI_FILE_ROOTS && fd < 0; request.place++)
		fd = file_source_open(source, NULL, &request);
	if (fd < 0)
		return -ENOENT;
	char *text = read_text(fd);
	close(fd);
	return text ? perfmap_parse(text, out_map) : -ENOENT;
}

void perfmap_close(struct perfmap *map)
{
	free(map->entry);
	free(map->text);
	*map = (struct perfmap){0};
}

const char *perfmap_find(const struct perfmap *map, uint64_t address)
{
	size_t low = 0, high = map->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (map->entry[middle].lo <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < map->entry[low - 1].hi ? map->entry[low - 1].name : NULL;
}
