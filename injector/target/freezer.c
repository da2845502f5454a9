/* SPDX-License-Identifier: MIT */
/* freezer.c - see freezer.h. */
#include "freezer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc_file.h"

#define CGROUP_ROOT "/sys/fs/cgroup"
#define PATH_BYTES 4096

/*
 * Where distributions mount the hierarchies; version 2 is at the second place if both versions are
 * in use. `file` also shows whether an ancestor is frozen, `own` only whether the group itself is.
 */
static const struct place {
	const char *kind, *mount, *file, *word, *own, *thawed, *thaws;
} places[] = {
	{"0::", "", "cgroup.events", "frozen 1", "cgroup.freeze", "0", "cgroup.freeze"},
	{"0::", "/unified", "cgroup.events", "frozen 1", "cgroup.freeze", "0", "cgroup.freeze"},
	/* FROZEN, FREEZING; else THAWED */
	{":freezer:", "/freezer", "freezer.state", "FR", "freezer.self_freezing", "THAWED",
	 "freezer.state"},
};

static bool contains(const char *directory, const char *file, const char *word)
{
	char path[PATH_BYTES + 64], text[256];

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	text[got] = 0;
	return strstr(text, word) != NULL;
}

/* Shortens the path to that of the nearest group that was frozen itself. False: there is none. */
static bool find_frozen(char *path, size_t root_size, const struct place *place)
{
	while (strlen(path) > root_size) {
		if (contains(path, place->own, "1"))
			return true;
		*strrchr(path, '/') = 0;
	}
	return false;
}

static void explain(char *path, size_t root_size, const struct place *place, char *remedy,
		    size_t size)
{
	char how[PATH_BYTES + 64];

	snprintf(remedy, size, "thaw it first (docker unpause, or cgroup.freeze = 0)");
	if (!find_frozen(path, root_size, place))
		return;
	snprintf(how, sizeof(how), "%s >%s/%s", place->thawed, path, place->thaws);
	if (strlen(how) + sizeof("thaw it first (docker unpause, or echo )") <= size)
		snprintf(remedy, size, "thaw it first (docker unpause, or echo %s)", how);
}

static bool is_frozen(const char *line, const char *group, const char *root, char *remedy,
		      size_t size)
{
	char path[PATH_BYTES];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!strstr(line, places[i].kind))
			continue;
		const int length = snprintf(path, sizeof(path), "%s%s%s", root, places[i].mount,
					    strcmp(group, "/") != 0 ? group : "");
		if (length >= (int)sizeof(path) || !contains(path, places[i].file, places[i].word))
			continue;
		if (remedy)
			explain(path, strlen(root) + strlen(places[i].mount), &places[i], remedy,
				size);
		return true;
	}
	return false;
}

bool freezer_is_group_frozen(const char *text, const char *root, char *remedy, size_t size)
{
	char *copy = strdup(text), *rest = copy, *line;
	bool is = false;

	while (!is && copy && (line = strsep(&rest, "\n"))) {
		const char *colon = strchr(line, ':');
		const char *group = colon ? strchr(colon + 1, ':') : NULL;

		is = group && is_frozen(line, group + 1, root, remedy, size);
	}
	free(copy);
	return is;
}

bool freezer_is_frozen(pid_t pid, char *remedy, size_t size)
{
	char *text;

	if (proc_file_read(pid, 0, "cgroup", &text, NULL))
		return false;
	const bool is = freezer_is_group_frozen(text, CGROUP_ROOT, remedy, size);
	free(text);
	return is;
}
