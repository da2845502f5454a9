/* SPDX-License-Identifier: MIT */
/* descendants.c - see descendants.h. */
#include "descendants.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "proc_file.h"
#include "procfs.h"

/* ---- all processes --------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const pid_t one = *(const pid_t *)a, other = *(const pid_t *)b;

	return (one > other) - (one < other);
}

/* Ascending; the caller frees. */
static int list_processes(pid_t **out_pid, size_t *out_count)
{
	DIR *proc = opendir(PROC_DIRECTORY);
	pid_t *pid = NULL;
	size_t count = 0, room = 0;
	int err = proc ? 0 : -errno;

	for (pid_t next; !err && (next = proc_next(proc));) {
		if (count == room) {
			pid_t *grown = realloc(pid, (2 * room + 256) * sizeof(*pid));

			err = grown ? 0 : -ENOMEM;
			pid = grown ? grown : pid;
			room = grown ? 2 * room + 256 : room;
		}
		if (!err)
			pid[count++] = next;
	}
	if (proc)
		closedir(proc);
	if (err) {
		free(pid);
		return err;
	}
	if (count)
		qsort(pid, count, sizeof(*pid), compare);
	*out_pid = pid;
	*out_count = count;
	return 0;
}

int descendants_begin(struct descendants *descendants)
{
	return list_processes(&descendants->pid, &descendants->count);
}

/* ---- whose it is ----------------------------------------------------------------------------- */

/* Also if that of a member is not known, as it ended too soon. */
static bool is_candidate(const struct members *members, const struct program_mark *mark)
{
	for (size_t i = 0; i < members->count; i++)
		if (!members->member[i].mark.size ||
		    program_mark_is_same(&members->member[i].mark, mark))
			return true;
	return false;
}

/* Its children are told by what they map. */
static bool is_session(const struct members *members, pid_t pid)
{
	for (size_t i = 0; i < members->count; i++)
		if (members->member[i].session == pid)
			return true;
	return false;
}

/*
 * The first pages of the file, as a target has them and what it forks: a private copy. Its session
 * maps the file, too, and shared, and so does what the session has forked.
 */
static bool is_of_target(const struct mapping *mapping)
{
	return !mapping->file_offset && !mapping->shared && !strcmp(mapping->path, ARENA_PATH);
}

static const struct member *member_of(const struct members *members, const struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *mapping = &maps->mapping[i];

		if (!is_of_target(mapping))
			continue;
		for (size_t k = 0; k < members->count; k++) {
			const struct member *member = &members->member[k];

			if (member->outcome && member->outcome->memory_file &&
			    member->outcome->memory_file == mapping->inode)
				return member;
		}
	}
	return NULL;
}

static int examine(const struct members *members, pid_t pid, struct children *children)
{
	struct program_mark mark;
	struct maps maps;

	if (is_session(members, pid))
		return 0;
	program_mark_read(pid, &mark);
	if (!is_candidate(members, &mark) || maps_read(pid, 0, &maps))
		return 0;
	const struct member *member = member_of(members, &maps);
	maps_close(&maps);
	return member && member->process.pid != pid
		       ? children_see(children, &member->process, &mark, pid)
		       : 0;
}

/* A session that attaches now: what has its memory file is not told from other processes yet. */
static bool are_all_known(const struct members *members)
{
	for (size_t i = 0; i < members->count; i++) {
		const struct member *member = &members->member[i];

		if (member->state == MEMBER_RUNS &&
		    (!member->outcome || !member->outcome->memory_file))
			return false;
	}
	return true;
}

int descendants_look(struct descendants *descendants, const struct members *members,
		     struct children *children)
{
	pid_t *pid;
	size_t count;
	/* before it is examined: another may become known meanwhile */
	const bool are_known = are_all_known(members);
	int err = list_processes(&pid, &count);

	if (err)
		return err;
	for (size_t i = 0; i < count && !err; i++)
		if (!descendants->count ||
		    !bsearch(&pid[i], descendants->pid, descendants->count, sizeof(*pid), compare))
			err = examine(members, pid[i], children);
	if (!are_known) {
		free(pid);
		return err;
	}
	free(descendants->pid);
	descendants->pid = pid;
	descendants->count = count;
	return err;
}

void descendants_close(struct descendants *descendants)
{
	free(descendants->pid);
	*descendants = (struct descendants){0};
}
