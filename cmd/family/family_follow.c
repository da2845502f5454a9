/* SPDX-License-Identifier: MIT */
/* family_follow.c - see family_follow.h. */
#include "family_follow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plain_text.h"

static bool is_followed(const struct member *member)
{
	return member->process.pid &&
	       (member->state == MEMBER_WAITS || member->state == MEMBER_RUNS);
}

/* One look at all, of which children are known that were there before. */
static int look(struct family *family, bool are_known)
{
	int err = 0;

	children_begin(&family->children);
	for (size_t i = 0; i < family->all.count && !err; i++) {
		const struct member *member = &family->all.member[i];

		if (is_followed(member))
			err = children_look(&family->children, &member->process, &member->mark,
					    are_known);
	}
	if (!err && !are_known)
		err = descendants_look(&family->descendants, &family->all, &family->children);
	children_settle(&family->children);
	return err;
}

static size_t count_children(const struct family *family)
{
	size_t count = 0;

	for (size_t i = 0; i < family->all.count; i++)
		count += family->all.member[i].parent && is_followed(&family->all.member[i]);
	return count;
}

static void complain(struct family *family, const char *before, const struct process_found *process,
		     const char *after)
{
	char line[256], comm[sizeof(process->comm)];

	plain_text_copy(comm, sizeof(comm), process->comm);
	snprintf(line, sizeof(line), "heapinject: %s%d (%s)%s", before, (int)process->pid, comm,
		 after);
	progress_complain(&family->progress, line);
}

/* Further ones are only counted. */
static void complain_beyond(struct family *family, const struct process_found *process)
{
	char before[64];

	snprintf(before, sizeof(before), "%zu children have sessions, ",
		 family->options->children_max);
	if (!family->all.beyond++)
		complain(family, before, process,
			 " and further ones are not attached to: --max-children");
}

static int take(struct family *family, const struct child *child)
{
	if (count_children(family) >= family->options->children_max) {
		complain_beyond(family, &child->process);
		return 0;
	}
	const int err = members_add(&family->all, &child->process);
	if (err)
		return err;
	struct member *member = &family->all.member[family->all.count - 1];
	member->parent = child->parent.pid;
	member->mark = child->mark;
	return 0;
}

void family_follow(struct family *family)
{
	struct child child;
	int err;

	if (!family->options->follows_fork || family->is_ending)
		return;
	err = look(family, false);
	while (!err && children_next(&family->children, &child))
		err = take(family, &child);
	if (err)
		family->all.is_incomplete = true;
	family->all.ended = family->children.ended;
	family->all.executed = family->children.executed;
	if (family->children.closed != family->all.closed)
		complain(family, "", &family->children.closed_one,
			 " was forked, and is not attached to: /proc does not show whether it has "
			 "executed another program; use sudo");
	family->all.closed = family->children.closed;
}

/* Children that are there already are none of those that are followed. */
int family_follow_begin(struct family *family)
{
	if (!family->options->follows_fork)
		return 0;
	for (size_t i = 0; i < family->all.count; i++)
		program_mark_read(family->all.member[i].process.pid, &family->all.member[i].mark);
	family->all.are_followed = true;
	family->children.own = program_file_of(getpid());
	int err = look(family, true);

	if (!err)
		err = descendants_begin(&family->descendants);
	if (err == -ENOTSUP)
		fputs("heapinject: --follow-fork is not possible: this kernel does not list the "
		      "children of a thread in /proc (CONFIG_PROC_CHILDREN)\n",
		      stderr);
	else if (err)
		fprintf(stderr, "heapinject: cannot look for children: %s\n", strerror(-err));
	return err;
}
