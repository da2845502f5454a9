/* SPDX-License-Identifier: MIT */
/*
 * maps.c - parser of /proc/PID/task/TID/maps. Declared in procfs.h.
 *
 * A line is `lo-hi perms offset major:minor inode   path`. The kernel escapes newlines in paths as
 * \012 and nothing else, not even the backslash. The file is not a snapshot: between two reads the
 * target may map and unmap memory, so neighboring lines may overlap. Then the later one is left
 * out.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "memory_copy.h"
#include "proc_file.h"
#include "procfs.h"

static const char deleted_suffix[] = " (deleted)";

/* Parses a number at *at and steps over it and over `separator`, which must follow. */
static bool take_number(const char **at, int base, char separator, uint64_t *out_number)
{
	char *end;

	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*out_number = strtoull(*at, &end, base);
	if (errno || *end != separator)
		return false;
	*at = end + 1;
	return true;
}

/* Copies the path up to the end of the line, unescaped. Returns where the next path may go. */
static char *take_path(const char *at, const char *end, char *into, struct mapping *mapping)
{
	const size_t suffix = sizeof(deleted_suffix) - 1;
	char *out = into;

	while (at < end && *at == ' ')
		at++;
	while (at < end) {
		if (end - at >= 4 && memcmp(at, "\\012", 4) == 0) {
			*out++ = '\n';
			at += 4;
		} else {
			*out++ = *at++;
		}
	}
	if ((size_t)(out - into) > suffix && memcmp(out - suffix, deleted_suffix, suffix) == 0) {
		mapping->deleted = true;
		out -= suffix;
	}
	*out++ = 0;
	mapping->path = into;
	return out;
}

/* One line [at, end); returns where the next path may go, or NULL if the line is none. */
static char *parse_line(const char *at, const char *end, char *path, struct mapping *out_mapping)
{
	struct mapping mapping = {0};
	uint64_t major, minor;

	if (!take_number(&at, 16, '-', &mapping.lo) || !take_number(&at, 16, ' ', &mapping.hi) ||
	    mapping.lo >= mapping.hi)
		return NULL;
	if (strnlen(at, 5) < 5 || at[4] != ' ')
		return NULL;
	mapping.readable = at[0] == 'r';
	mapping.writable = at[1] == 'w';
	mapping.executable = at[2] == 'x';
	mapping.shared = at[3] == 's';
	at += 5;
	if (!take_number(&at, 16, ' ', &mapping.file_offset) ||
	    !take_number(&at, 16, ':', &major) || !take_number(&at, 16, ' ', &minor))
		return NULL;
	/* Anonymous mappings end after the inode, on old kernels without the space. */
	if (!isdigit((unsigned char)*at))
		return NULL;
	mapping.inode = strtoull(at, (char **)&at, 10);
	mapping.device = makedev((unsigned)major, (unsigned)minor);
	if (at > end)
		return NULL;
	path = take_path(at, end, path, &mapping);
	*out_mapping = mapping;
	return path;
}

static size_t count_lines(const char *text, size_t size)
{
	size_t lines = 1;

	for (const char *at = text; (at = memchr(at, '\n', size - (size_t)(at - text))); at++)
		lines++;
	return lines;
}

static int maps_allocate(struct maps *maps, const char *text, size_t size)
{
	const size_t lines = count_lines(text, size);

	maps->text = malloc(size + 1);
	maps->mapping = calloc(lines, sizeof(*maps->mapping));
	/* Every path is shorter than its line. */
	maps->paths = malloc(size + lines);
	if (!maps->text || !maps->mapping || !maps->paths)
		return -ENOMEM;
	memcpy(maps->text, text, size);
	maps->text[size] = 0;
	maps->text_size = size;
	return 0;
}

int maps_parse(const char *text, size_t size, struct maps *out_maps)
{
	struct maps maps = {0};
	remote_addr covered = 0;
	char *path;

	if (maps_allocate(&maps, text, size) < 0) {
		maps_close(&maps);
		return -ENOMEM;
	}
	path = maps.paths;
	for (const char *line = maps.text, *end; line < maps.text + size; line = end + 1) {
		struct mapping *mapping = &maps.mapping[maps.count];
		char *next;

		end = memchr(line, '\n', (size_t)(maps.text + size - line));
		if (!end)
			end = maps.text + size;
		next = parse_line(line, end, path, mapping);
		if (!next || mapping->lo < covered)
			continue;
		covered = mapping->hi;
		path = next;
		maps.count++;
	}
	*out_maps = maps;
	return 0;
}

int maps_read(pid_t pid, pid_t tid, struct maps *out_maps)
{
	size_t size;
	char *text;
	int err = proc_file_read(pid, tid, "maps", &text, &size);

	if (err)
		return err;
	err = maps_parse(text, size, out_maps);
	free(text);
	return err;
}

int maps_of(const struct memory *memory, struct maps *out_maps)
{
	const struct memory_copy *copy = memory->copy;

	return copy ? maps_parse(copy->maps, copy->maps_size, out_maps)
		    : maps_read(memory->pid, memory->tid, out_maps);
}

void maps_close(struct maps *maps)
{
	free(maps->mapping);
	free(maps->text);
	free(maps->paths);
	*maps = (struct maps){0};
}

const struct mapping *maps_find(const struct maps *maps, remote_addr address)
{
	size_t low = 0, high = maps->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (maps->mapping[middle].hi <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < maps->count && maps->mapping[low].lo <= address ? &maps->mapping[low] : NULL;
}

remote_addr maps_end(const struct maps *maps)
{
	size_t count = maps->count;

	/* the kernel may list a page of its own half, as on x86-64 */
	while (count && maps->mapping[count - 1].lo >> 63)
		count--;
	return count ? maps->mapping[count - 1].hi : 0;
}

bool mapping_continues(const struct mapping *first, const struct mapping *then)
{
	return first->hi == then->lo && first->inode && first->inode == then->inode &&
	       first->device == then->device &&
	       first->file_offset + (first->hi - first->lo) == then->file_offset &&
	       first->readable == then->readable && first->writable == then->writable &&
	       first->executable == then->executable && first->shared == then->shared;
}
