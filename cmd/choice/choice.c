/* SPDX-License-Identifier: MIT */
/* choice.c - see choice.h. Start at choice_find(). */
#include "choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup_find.h"
#include "hi_path.h"
#include "memory_limit.h"
#include "plain_text.h"
#include "port_find.h"
#include "proc_file.h"
#include "procfs.h"

/* the kernel's mark at the path of an executable that was replaced */
#define DELETED " (deleted)"

bool choice_is_given(const struct choice *choice)
{
	return choice->name || choice->cgroup || choice->unit || choice->port;
}

/* ---- by name --------------------------------------------------------------------------------- */

static bool has_executable(pid_t pid, const char *name)
{
	char path[PATH_MAX];
	ssize_t size = readlink(proc_path(pid, 0, "exe").text, path, sizeof(path) - 1);
	const ssize_t mark = sizeof(DELETED) - 1;

	if (size <= 0)
		return false;
	if (size > mark && !memcmp(path + size - mark, DELETED, (size_t)mark))
		size -= mark;
	path[size] = 0;
	return !strcmp(hi_base_name(path), name);
}

static bool is_called(pid_t pid, const char *name)
{
	struct proc_status status;

	return (!proc_status_read(pid, 0, &status) && !strcmp(status.comm, name)) ||
	       has_executable(pid, name);
}

static int find_name(const char *name, struct processes_found *found)
{
	DIR *proc = opendir(PROC_DIRECTORY);
	int err = 0;

	if (!proc)
		return -errno;
	for (pid_t pid; !err && (pid = proc_next(proc));)
		if (is_called(pid, name))
			err = processes_found_add(found, pid);
	closedir(proc);
	return err;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int find_cgroup(const struct choice *choice, struct processes_found *found)
{
	static char path[PATH_MAX];
	const int err = choice->unit ? cgroup_find_unit(MEMORY_LIMIT_CGROUPS, choice->unit, path)
				     : cgroup_find(MEMORY_LIMIT_CGROUPS, choice->cgroup, path);

	return err ? err : cgroup_processes(path, found);
}

static int by_pid(const void *left, const void *right)
{
	const struct process_found *a = left, *b = right;

	return a->pid - b->pid;
}

int choice_find(const struct choice *choice, struct processes_found *out_found)
{
	struct processes_found found = {0};
	const int err = choice->name   ? find_name(choice->name, &found)
			: choice->port ? port_find(choice->port, &found)
				       : find_cgroup(choice, &found);

	if (err) {
		processes_found_close(&found);
		return err;
	}
	if (found.count)
		qsort(found.process, found.count, sizeof(*found.process), by_pid);
	processes_found_drop_sharers(&found);
	*out_found = found;
	return 0;
}

/* ---- in words -------------------------------------------------------------------------------- */

const char *choice_describe(const struct choice *choice, char text[CHOICE_TEXT_MAX])
{
	char name[CHOICE_TEXT_MAX - 64] = "";

	if (choice->name || choice->cgroup || choice->unit)
		plain_text_copy(name, sizeof(name),
				choice->name     ? choice->name
				: choice->cgroup ? choice->cgroup
						 : choice->unit);
	if (choice->port)
		snprintf(text, CHOICE_TEXT_MAX, "on TCP port %u", choice->port);
	else
		snprintf(text, CHOICE_TEXT_MAX, "%s %s",
			 choice->name     ? "called"
			 : choice->cgroup ? "of the cgroup"
					  : "of the unit",
			 name);
	return text;
}

const char *choice_explain(const struct choice *choice, int err, char text[CHOICE_TEXT_MAX])
{
	char wanted[CHOICE_TEXT_MAX];

	choice_describe(choice, wanted);
	if (err == -EACCES && choice->port)
		snprintf(text, CHOICE_TEXT_MAX,
			 "the process %.64s cannot be seen from here: it is another user's, or "
			 "in another pid namespace; try sudo",
			 wanted);
	else if (err == -ENOENT && choice->cgroup)
		snprintf(text, CHOICE_TEXT_MAX,
			 "there is no process %.160s: no such cgroup; /proc/PID/cgroup has that of "
			 "a process",
			 wanted);
	else if (err && err != -ENOENT)
		snprintf(text, CHOICE_TEXT_MAX, "cannot look for the process %.200s: %s", wanted,
			 strerror(-err));
	else
		snprintf(text, CHOICE_TEXT_MAX,
			 "there is no process %.200s; heapinject top lists those that there are",
			 wanted);
	return text;
}
