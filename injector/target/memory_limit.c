/* SPDX-License-Identifier: MIT */
/* memory_limit.c - see memory_limit.h. Start at memory_limit_of(). */
#include "memory_limit.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc_file.h"
#include "procfs.h"

/* of cgroup v1, where no limit is a number: the largest page-aligned one */
#define NO_LIMIT (1ull << 62)
#define DEPTH_MAX 64
#define SEARCH_DEPTH_MAX 8

static void take(struct memory_limit *nearest, uint64_t limit, uint64_t used)
{
	const uint64_t left = limit > used ? limit - used : 0;

	if (!limit || limit >= NO_LIMIT)
		return;
	if (!nearest->limit || left < nearest->limit - nearest->used)
		*nearest = (struct memory_limit){limit, used < limit ? used : limit};
}

/* The number in a file; 0: there is none, or another word ("max"). */
static uint64_t read_number(const char *directory, const char *name)
{
	char path[PATH_MAX], text[32] = "";
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return 0;
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		*text = 0;
	fclose(file);
	return strtoull(text, NULL, 10);
}

struct version {
	const char *below, *limit, *used; /* below: of the directory of all cgroups */
	const char *throttled; /* where the kernel stalls who allocates: a limit if it is the only
				  one */
};
static const struct version v2 = {"", "memory.max", "memory.current", "memory.high"};
static const struct version v1 = {"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
				  NULL};

/* Extends path to the first directory there, or below one there, that ends in `end`. */
static bool find_end(char path[PATH_MAX], const char *end, int depth)
{
	const size_t size = strlen(path);
	const struct dirent *entry;
	bool is_found =
		snprintf(path + size, PATH_MAX - size, "%s", end) < (int)(PATH_MAX - size) &&
		!access(path, X_OK);

	if (is_found)
		return true;
	path[size] = 0;
	DIR *directory = depth < SEARCH_DEPTH_MAX ? opendir(path) : NULL;
	while (directory && !is_found && (entry = readdir(directory))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    snprintf(path + size, PATH_MAX - size, "/%s", entry->d_name) >=
			    (int)(PATH_MAX - size))
			continue;
		is_found = find_end(path, end, depth + 1);
	}
	if (directory)
		closedir(directory);
	if (!is_found)
		path[size] = 0;
	return is_found;
}

/*
 * The directory that a cgroup has, if it can be seen. In a cgroup namespace the kernel names what
 * is outside of that by the way from its root, "/../../a/b", and does not say where that root is.
 * So the end of the name is looked for: those of pods and containers are unique.
 */
static bool find_directory(const char *root, const struct version *version, const char *name,
			   size_t size, char path[PATH_MAX])
{
	static const char up[] = "/..";
	const size_t up_size = sizeof(up) - 1;
	static char found_end[PATH_MAX], found_path[PATH_MAX]; /* of the last search */
	char end[PATH_MAX];
	size_t above = 0;

	while (size - above > up_size && !strncmp(name + above, up, up_size) &&
	       name[above + up_size] == '/')
		above += up_size;
	if (snprintf(end, sizeof(end), "%.*s", (int)(size - above), name + above) >=
		    (int)sizeof(end) ||
	    snprintf(path, PATH_MAX, "%s%s%s", root, version->below, above ? "" : end) >= PATH_MAX)
		return false;
	if (!above)
		return true;
	if (!strcmp(end, found_end) && !strncmp(found_path, path, strlen(path)) &&
	    !access(found_path, X_OK)) {
		memcpy(path, found_path, sizeof(found_path));
		return true;
	}
	if (!find_end(path, end, 0))
		return false;
	memcpy(found_end, end, sizeof(end));
	memcpy(found_path, path, sizeof(found_path));
	return true;
}

/* Looks at a cgroup and at all above it. */
static void take_cgroups(const char *root, const struct version *version, const char *name,
			 size_t size, struct memory_limit *nearest)
{
	const size_t root_size = strlen(root) + strlen(version->below);
	char path[PATH_MAX];

	if (!find_directory(root, version, name, size, path))
		return;
	for (int depth = 0; depth < DEPTH_MAX && strlen(path) > root_size; depth++) {
		const uint64_t limit = read_number(path, version->limit);

		if (limit)
			take(nearest, limit, read_number(path, version->used));
		*strrchr(path, '/') = 0;
	}
}

/* Whether a line "N:LIST:PATH" has that controller in its list. An empty list is cgroup v2. */
static bool has_controller(const char *list, size_t size, const char *controller)
{
	const size_t length = strlen(controller);

	for (size_t i = 0; i + length <= size; i++)
		if ((i == 0 || list[i - 1] == ',') && !strncmp(list + i, controller, length) &&
		    (i + length == size || list[i + length] == ','))
			return true;
	return false;
}

/* The next line that names a cgroup of memory. NULL: there is none. */
static const struct version *next_cgroup(const char **text, const char **out_name, size_t *out_size)
{
	const struct version *found = NULL;

	while (**text && !found) {
		const size_t line = strcspn(*text, "\n");
		const char *list = memchr(*text, ':', line);
		const char *name =
			list ? memchr(list + 1, ':', line - (size_t)(list + 1 - *text)) : NULL;

		if (name) {
			const size_t list_size = (size_t)(name - list - 1);

			*out_name = name + 1;
			*out_size = line - (size_t)(name + 1 - *text);
			if (!list_size)
				found = &v2;
			else if (has_controller(list + 1, list_size, "memory"))
				found = &v1;
		}
		*text += line + ((*text)[line] == '\n');
	}
	return found;
}

void memory_limit_take_cgroups(const char *root, const char *text, struct memory_limit *nearest)
{
	const struct version *version;
	const char *name;
	size_t size;

	while ((version = next_cgroup(&text, &name, &size)))
		take_cgroups(root, version, name, size, nearest);
}

/* Looks at found->own and at all above it, up to the directory of all cgroups. */
static void find_nearest(size_t root_size, const struct version *version,
			 struct memory_cgroup *found)
{
	char path[PATH_MAX];

	memcpy(path, found->own, sizeof(path));
	for (int depth = 0; depth < DEPTH_MAX && strlen(path) >= root_size; depth++) {
		const struct memory_limit before = found->nearest;
		uint64_t limit = read_number(path, version->limit);

		if ((!limit || limit >= NO_LIMIT) && version->throttled)
			limit = read_number(path, version->throttled);
		take(&found->nearest, limit, read_number(path, version->used));
		if (before.limit != found->nearest.limit || before.used != found->nearest.used)
			memcpy(found->path, path, sizeof(path));
		*strrchr(path, '/') = 0;
	}
}

void memory_limit_find_cgroup(const char *root, const char *text, struct memory_cgroup *out_cgroup)
{
	static struct memory_cgroup found; /* large */
	const struct version *version;
	const char *name;
	size_t size;

	*out_cgroup = (struct memory_cgroup){0};
	while ((version = next_cgroup(&text, &name, &size))) {
		found = (struct memory_cgroup){.is_v1 = version == &v1};
		size -= size == 1; /* "/" */
		if (!find_directory(root, version, name, size, found.own) ||
		    access(found.own, X_OK))
			continue;
		find_nearest(strlen(root) + strlen(version->below), version, &found);
		/* in a hybrid hierarchy the cgroup of version 2 has no memory of its own */
		if (found.is_v1 || !*out_cgroup->own)
			*out_cgroup = found;
	}
}

/* The soft limit of a line of /proc/PID/limits; 0: unlimited. */
static uint64_t own_limit(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

void memory_limit_take_own(const char *text, uint64_t space, uint64_t data,
			   struct memory_limit *nearest)
{
	take(nearest, own_limit(text, "Max address space"), space);
	take(nearest, own_limit(text, "Max data size"), data);
}

uint64_t memory_limit_resident(pid_t pid, pid_t tid)
{
	const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	const uint64_t machine = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
	struct memory_limit nearest = {0};
	char *text;

	if (!proc_file_read(pid, tid, "cgroup", &text, NULL)) {
		memory_limit_take_cgroups(MEMORY_LIMIT_CGROUPS, text, &nearest);
		free(text);
	}
	return nearest.limit && (!machine || nearest.limit < machine) ? nearest.limit : machine;
}

struct memory_limit memory_limit_of(pid_t pid, pid_t tid)
{
	struct memory_limit nearest = {0};
	struct proc_status status;
	char *text;

	if (!proc_file_read(pid, tid, "cgroup", &text, NULL)) {
		memory_limit_take_cgroups(MEMORY_LIMIT_CGROUPS, text, &nearest);
		free(text);
	}
	if (!proc_file_read(pid, tid, "limits", &text, NULL)) {
		if (!proc_status_read(pid, tid, &status))
			memory_limit_take_own(text, status.size_bytes, status.writable_bytes,
					      &nearest);
		free(text);
	}
	return nearest;
}
