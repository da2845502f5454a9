/* SPDX-License-Identifier: MIT */
/* cgroup_find.c - see cgroup_find.h. */
#include "cgroup_find.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 16
#define UNIT_NAME_MAX 255

/* below the directory of all cgroups: version 2, what is mounted beside version 1, version 1 */
static const char *const below[] = {"", "/unified", "/memory", "/systemd"};
#define HIERARCHIES (sizeof(below) / sizeof(*below))

static bool is_cgroup(const char *path)
{
	char procs[PATH_MAX];

	return snprintf(procs, sizeof(procs), "%s/cgroup.procs", path) < PATH_MAX &&
	       !access(procs, F_OK);
}

/* What is behind the directory of all cgroups; the whole name, if it is not below that. */
static const char *skip_root(const char *root, const char *name)
{
	const size_t size = strlen(root);

	return !strncmp(name, root, size) && (!name[size] || name[size] == '/') ? name + size
										: name;
}

int cgroup_find(const char *root, const char *name, char out_path[PATH_MAX])
{
	char path[PATH_MAX];

	if (is_cgroup(name)) {
		snprintf(out_path, PATH_MAX, "%s", name);
		return 0;
	}
	name = skip_root(root, name);
	for (size_t i = 0; i < HIERARCHIES; i++) {
		if (snprintf(path, sizeof(path), "%s%s%s%s", root, below[i],
			     *name == '/' ? "" : "/", name) >= PATH_MAX ||
		    !is_cgroup(path))
			continue;
		memcpy(out_path, path, sizeof(path));
		return 0;
	}
	return -ENOENT;
}

/* Calls visit for each directory of cgroups in path, until that returns true. */
struct walk {
	bool (*visit)(struct walk *walk, const char *path, const char *name);
	const char *wanted;            /* of a search by name */
	char *out_path;                /* PATH_MAX */
	struct processes_found *found; /* of a search for processes */
	int err;                       /* of that */
};

static bool walk_below(struct walk *walk, const char *path, int depth)
{
	char inner[PATH_MAX];
	const struct dirent *entry;
	bool is_found = false;
	DIR *directory = depth < DEPTH_MAX ? opendir(path) : NULL;

	while (directory && !is_found && (entry = readdir(directory))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name) >= PATH_MAX)
			continue;
		is_found = walk->visit(walk, inner, entry->d_name) ||
			   walk_below(walk, inner, depth + 1);
	}
	if (directory)
		closedir(directory);
	return is_found;
}

static bool is_wanted(struct walk *walk, const char *path, const char *name)
{
	if (strcmp(name, walk->wanted) != 0 || !is_cgroup(path))
		return false;
	snprintf(walk->out_path, PATH_MAX, "%s", path);
	return true;
}

int cgroup_find_unit(const char *root, const char *name, char out_path[PATH_MAX])
{
	char unit[UNIT_NAME_MAX + 1], path[PATH_MAX];
	struct walk walk = {.visit = is_wanted, .wanted = unit, .out_path = out_path};

	if (!*name || strchr(name, '/') ||
	    snprintf(unit, sizeof(unit), "%s%s", name, strchr(name, '.') ? "" : ".service") >
		    UNIT_NAME_MAX)
		return -EINVAL;
	for (size_t i = 0; i < HIERARCHIES; i++) {
		snprintf(path, sizeof(path), "%s%s", root, below[i]);
		if (is_cgroup(path) && walk_below(&walk, path, 0))
			return 0;
	}
	return -ENOENT;
}

static int take_process(struct processes_found *found, pid_t pid)
{
	const size_t before = found->count;
	const int err = processes_found_add(found, pid);

	if (found->count > before && !strcmp(found->process[before].comm, "heapinject"))
		found->count = before;
	return err;
}

static bool take_processes(struct walk *walk, const char *path, const char *name)
{
	char procs[PATH_MAX];
	FILE *file;
	int pid;

	(void)name;
	if (snprintf(procs, sizeof(procs), "%s/cgroup.procs", path) >= PATH_MAX)
		return false;
	file = fopen(procs, "re");
	while (file && !walk->err && fscanf(file, "%d", &pid) == 1)
		if (pid > 0)
			walk->err = take_process(walk->found, pid);
	if (file)
		fclose(file);
	return walk->err != 0;
}

int cgroup_processes(const char *path, struct processes_found *found)
{
	struct walk walk = {.visit = take_processes, .found = found};

	if (!take_processes(&walk, path, ""))
		(void)walk_below(&walk, path, 0);
	return walk.err;
}

int cgroup_largest(const char *path, struct process_found *out_process, unsigned *out_others)
{
	struct processes_found found = {0};
	int err = cgroup_processes(path, &found);
	size_t largest = 0;

	for (size_t i = 1; i < found.count; i++)
		if (found.process[i].resident_bytes > found.process[largest].resident_bytes)
			largest = i;
	if (!err && !found.count)
		err = -ESRCH;
	if (!err) {
		*out_process = found.process[largest];
		*out_others = (unsigned)found.count - 1;
	}
	processes_found_close(&found);
	return err;
}
