/* SPDX-License-Identifier: MIT */
/*
 * children.h - processes that those of a family fork, without executing another program.
 *
 * They are found in /proc/PID/task/TID/children, look after look: nobody is stopped or traced for
 * that. So a child is not seen that ends within the time between two looks; a grandchild whose
 * parent ends within that time is found by descendants.h. A child is taken once it has lived for a
 * whole look, as most that execute a program do that at once. That it has not executed one is known
 * by its auxiliary vector, which execve makes anew and fork copies. A child that shares its
 * parent's memory (vfork, CLONE_VM) is not taken as long as it does.
 *
 * No heapinject is taken. Sessions of a family are no children of its processes, but what follows
 * one would have a session for each session.
 */
#ifndef HI_CHILDREN_H
#define HI_CHILDREN_H

#include <stdbool.h>

#include "processes_found.h"

#define PROGRAM_BYTES_MAX 1024u

/* Tells whether two processes are copies of one, that has executed a program. */
struct program_mark {
	size_t size; /* 0 = not known */
	char auxv[PROGRAM_BYTES_MAX];
};

/* The file of a program. Zero-initialized = not known. */
struct program_file {
	dev_t device;
	ino_t inode;
};

enum child_state {
	CHILD_IGNORED, /* it was there before, executed a program, or was taken */
	CHILD_WAITS,
	CHILD_DUE, /* to be taken by the caller of children_next() */
};

struct child {
	struct process_found process, parent;
	struct program_mark mark; /* of both, unless it executes another program */
	enum child_state state;
	bool is_seen;  /* at this look */
	bool has_aged; /* it was there at the one before */
};

/* Zero-initialized = none. */
struct children {
	/* the command's own, known = no process that runs it is taken: it would be a session, or a
	 * helper of one, of this family or of another */
	struct program_file own;
	struct child *child;
	size_t count, room;
	size_t ended;                    /* before they could be taken */
	size_t executed;                 /* another program */
	size_t closed;                   /* /proc does not show what they are */
	struct process_found closed_one; /* the last one of these */
};

void program_mark_read(pid_t pid, struct program_mark *out_mark);
/* False also where one is not known. */
bool program_mark_is_same(const struct program_mark *one, const struct program_mark *other);
/* Of the program that a process runs. */
struct program_file program_file_of(pid_t pid);
/* Begins a look, of which children_look() has the parts, and children_settle() the end. */
void children_begin(struct children *children);
/*
 * Looks at the children of a process. are_known: those are no news. 0 or negative errno; -ENOTSUP:
 * this kernel does not list children (CONFIG_PROC_CHILDREN).
 */
must_check int children_look(struct children *children, const struct process_found *parent,
			     const struct program_mark *mark, bool are_known);
/* The same of one process that is known to descend from `parent`. 0 or -ENOMEM. */
must_check int children_see(struct children *children, const struct process_found *parent,
			    const struct program_mark *mark, pid_t pid);
void children_settle(struct children *children);
/* A child that is to be taken now; false: there is none. */
bool children_next(struct children *children, struct child *out_child);
/* Whether there are some of which that is not known yet. */
bool children_are_awaited(const struct children *children);
void children_close(struct children *children);

#endif
