/* SPDX-License-Identifier: MIT */
/* children.c - see children.h. */
#include "children.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "proc_file.h"
#include "procfs.h"
#include "same_memory.h"

/* ---- which program --------------------------------------------------------------------------- */

void program_mark_read(pid_t pid, struct program_mark *out_mark)
{
	char *auxv;
	size_t size;

	out_mark->size = 0;
	if (proc_file_read(pid, 0, "auxv", &auxv, &size))
		return;
	if (size <= sizeof(out_mark->auxv)) {
		memcpy(out_mark->auxv, auxv, size);
		out_mark->size = size;
	}
	free(auxv);
}

bool program_mark_is_same(const struct program_mark *one, const struct program_mark *other)
{
	return one->size && one->size == other->size && !memcmp(one->auxv, other->auxv, one->size);
}

struct program_file program_file_of(pid_t pid)
{
	struct stat file;

	if (stat(proc_path(pid, 0, "exe").text, &file))
		return (struct program_file){0};
	return (struct program_file){.device = file.st_dev, .inode = file.st_ino};
}

static bool runs(pid_t pid, const struct program_file *program)
{
	const struct program_file now = program_file_of(pid);

	return now.inode && now.inode == program->inode && now.device == program->device;
}

static bool shares_memory(const struct child *child)
{
	struct same_memory_reference parent;

	return !same_memory_open(child->parent.pid, &parent) &&
	       same_memory_ask(&parent, child->process.pid) != SAME_MEMORY_NO;
}

/* ---- a look ---------------------------------------------------------------------------------- */

void children_begin(struct children *children)
{
	for (size_t i = 0; i < children->count; i++)
		children->child[i].is_seen = false;
}

static struct child *find(struct children *children, const struct process_found *process)
{
	for (size_t i = 0; i < children->count; i++)
		if (children->child[i].process.pid == process->pid &&
		    children->child[i].process.start_ticks == process->start_ticks)
			return &children->child[i];
	return NULL;
}

/* NULL = out of memory. */
static struct child *add(struct children *children)
{
	if (children->count == children->room) {
		const size_t room = 2 * children->room + 16;
		struct child *grown = realloc(children->child, room * sizeof(*grown));

		if (!grown)
			return NULL;
		children->child = grown;
		children->room = room;
	}
	return &children->child[children->count++];
}

/* What the caller knows of a parent. */
struct family_parent {
	const struct process_found *process;
	const struct program_mark *mark;
	bool are_known;
};

/* If it is not, it is counted as what it is, unless that is this command. */
static bool is_same_program(struct children *children, const struct child *child)
{
	struct program_mark own;

	program_mark_read(child->process.pid, &own);
	if (runs(child->process.pid, &children->own))
		return false;
	if (program_mark_is_same(&own, &child->mark))
		return true;
	if (own.size) {
		children->executed++;
	} else if (process_found_is_there(&child->process)) {
		children->closed++;
		children->closed_one = child->process;
	} else {
		children->ended++;
	}
	return false;
}

static int see(struct children *children, const struct family_parent *parent, pid_t pid)
{
	struct process_found process;

	if (process_found_read(pid, &process))
		return 0;
	struct child *child = find(children, &process);
	if (child) {
		child->is_seen = true;
		return 0;
	}
	child = add(children);
	if (!child)
		return -ENOMEM;
	*child = (struct child){.process = process,
				.parent = *parent->process,
				.mark = *parent->mark,
				.is_seen = true};
	if (!parent->are_known && is_same_program(children, child))
		child->state = CHILD_WAITS;
	return 0;
}

int children_see(struct children *children, const struct process_found *parent,
		 const struct program_mark *mark, pid_t pid)
{
	const struct family_parent of = {parent, mark, false};

	return see(children, &of, pid);
}

static int see_all(struct children *children, const struct family_parent *parent, char *text)
{
	int err = 0;

	for (char *end; !err; text = end) {
		const long pid = strtol(text, &end, 10);

		if (end == text)
			break;
		err = see(children, parent, (pid_t)pid);
	}
	return err;
}

int children_look(struct children *children, const struct process_found *parent,
		  const struct program_mark *mark, bool are_known)
{
	const struct family_parent of = {parent, mark, are_known};
	pid_t *tids;
	size_t count, missing = 0;
	int err = proc_tasks(parent->pid, &tids, &count);

	if (err)
		return err == -ESRCH ? 0 : err;
	for (size_t i = 0; i < count && !err; i++) {
		char *text;

		if (proc_file_read(parent->pid, tids[i], "children", &text, NULL)) {
			missing++;
			continue;
		}
		err = see_all(children, &of, text);
		free(text);
	}
	free(tids);
	if (!err && missing == count && proc_has_memory(parent->pid, 0))
		err = -ENOTSUP;
	return err;
}

/* Its parent may have ended, and its own parent is another one since. */
static bool is_there(const struct child *child)
{
	return child->is_seen || process_found_is_there(&child->process);
}

void children_settle(struct children *children)
{
	size_t kept = 0;

	for (size_t i = 0; i < children->count; i++) {
		struct child *child = &children->child[i];

		if (!is_there(child)) {
			children->ended += child->state == CHILD_WAITS;
			continue;
		}
		if (child->state == CHILD_WAITS && child->has_aged)
			child->state = CHILD_DUE;
		child->has_aged = true;
		children->child[kept++] = *child;
	}
	children->count = kept;
}

/* ---- what comes of it ------------------------------------------------------------------------ */

/* Whether it is to be taken; if it is not, it waits again or is ignored. */
static bool is_taken(struct children *children, struct child *child)
{
	child->state = CHILD_IGNORED;
	if (!is_same_program(children, child))
		return false;
	if (shares_memory(child)) {
		child->state = CHILD_WAITS;
		return false;
	}
	return true;
}

bool children_next(struct children *children, struct child *out_child)
{
	for (size_t i = 0; i < children->count; i++) {
		struct child *child = &children->child[i];

		if (child->state != CHILD_DUE || !is_taken(children, child))
			continue;
		*out_child = *child;
		return true;
	}
	return false;
}

bool children_are_awaited(const struct children *children)
{
	for (size_t i = 0; i < children->count; i++)
		if (children->child[i].state != CHILD_IGNORED)
			return true;
	return false;
}

void children_close(struct children *children)
{
	free(children->child);
	*children = (struct children){0};
}
