/* SPDX-License-Identifier: MIT */
/* namespaces.c - see namespaces.h. */
#include "namespaces.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "proc_file.h"

#define LEVELS_MAX 40u /* the kernel has 32 */

bool namespaces_differ(pid_t pid, const char *kind)
{
	struct stat its, own;
	char name[32], path[64];

	snprintf(name, sizeof(name), "ns/%s", kind);
	snprintf(path, sizeof(path), "/proc/self/%s", name);
	return !stat(path, &own) && !stat(proc_path(pid, 0, name).text, &its) &&
	       (own.st_ino != its.st_ino || own.st_dev != its.st_dev);
}

/* ---- processes ------------------------------------------------------------------------------- */

/* The numbers of a process, from that here to that in its own namespace. Returns how many. */
static size_t parse_numbers(const char *status, pid_t numbers[LEVELS_MAX])
{
	static const char key[] = "\nNSpid:";
	const char *at = strstr(status, key);
	size_t count = 0;

	at = at ? at + sizeof(key) - 1 : "";
	while (count < LEVELS_MAX && *at && *at != '\n') {
		char *end;

		numbers[count] = (pid_t)strtol(at, &end, 10);
		if (end == at)
			break;
		count++;
		at = end;
	}
	return count;
}

pid_t namespaces_pid_parse(const char *viewer_status, const char *status)
{
	pid_t viewer[LEVELS_MAX], numbers[LEVELS_MAX];
	const size_t depth = parse_numbers(viewer_status, viewer),
		     count = parse_numbers(status, numbers);

	return depth && depth <= count ? numbers[depth - 1] : 0;
}

pid_t namespaces_pid(pid_t viewer, pid_t pid)
{
	char *viewer_status, *status;
	pid_t number = 0;

	if (proc_file_read(viewer, 0, "status", &viewer_status, NULL))
		return 0;
	if (!proc_file_read(pid, 0, "status", &status, NULL)) {
		number = namespaces_pid_parse(viewer_status, status);
		free(status);
	}
	free(viewer_status);
	return number;
}

static bool are_in_one(pid_t viewer, pid_t pid)
{
	struct stat its, other;

	return !stat(proc_path(viewer, 0, "ns/pid").text, &its) &&
	       !stat(proc_path(pid, 0, "ns/pid").text, &other) && its.st_ino == other.st_ino;
}

pid_t namespaces_find(pid_t viewer, pid_t inner)
{
	DIR *proc = opendir(PROC_DIRECTORY);
	pid_t pid = 0;

	while (proc && (pid = proc_next(proc)))
		if (are_in_one(viewer, pid) && namespaces_pid(viewer, pid) == inner)
			break;
	if (proc)
		closedir(proc);
	return pid;
}

/* ---- users ----------------------------------------------------------------------------------- */

uid_t namespaces_uid_parse(const char *map, uid_t uid)
{
	unsigned long inner, outer, count;

	/* lines of the first number there, the first number here, and how many follow */
	while (sscanf(map, "%lu %lu %lu", &inner, &outer, &count) == 3) {
		if (uid >= outer && uid - outer < count)
			return (uid_t)(inner + uid - outer);
		map = strchr(map, '\n');
		if (!map)
			break;
		map++;
	}
	return (uid_t)-1;
}

uid_t namespaces_uid(pid_t viewer, uid_t uid)
{
	char *map;
	uid_t number;

	if (proc_file_read(viewer, 0, "uid_map", &map, NULL))
		return (uid_t)-1;
	number = namespaces_uid_parse(map, uid);
	free(map);
	return number;
}
