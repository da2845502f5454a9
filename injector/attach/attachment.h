/* SPDX-License-Identifier: MIT */
/*
 * attachment.h - one target and all that we know of it and hold in it, from the first look to the receipt.
 *
 * Filled by attach.c or, after an injector died, by recover.c from the control block found in the target; emptied by detach.c. attachment_close frees our side
 * only and works half-filled.
 */
#ifndef HI_ATTACHMENT_H
#define HI_ATTACHMENT_H

#include "arena.h"
#include "loader.h"
#include "publish.h"
#include "live_patch.h"

#define LEFTOVER_MAX 8

struct attachment {
	pid_t pid;
	pid_t tid;  /* a live thread, through which /proc is read */
	pid_t died; /* the process that another one has taken the place of (heir.h); 0 = none */
	uint64_t start_time;
	int pidfd; /* readable once the target has exited; -1 */

	struct memory memory;
	struct maps maps;
	struct elf_images images;
	struct allocator allocator;
	struct entries entries;   /* its functions that are hooked where they begin, */
	struct allocator by_slot; /* and what remains to be hooked by slots */
	struct remote_gadgets gadgets;
	struct payload_image payload;
	const struct loader *loader;
	struct publisher publisher;

	struct arena arena;         /* of a session of our own */
	struct hi_control *control; /* the arena's own one, or a copy of a dead injector's; never a block that the target can write */
	bool control_is_copy;
	bool is_inherited; /* from a parent that was attached to, when it forked: the session is not this process's */
	bool is_early;     /* the control block's first page is not private yet: nothing is to be noted there, and all there is are mappings */
	remote_addr entry[HI_FUNCTION_COUNT]; /* gate entries */
	uint64_t link_map;                    /* fingerprint of the loaded objects that were patched last */
	uint64_t unloadable_due_ns;              /* clock.h: when the slots of libraries that may be unloaded are to be written; 0 = nothing to do */

	bool unloadable_missed; /* they could not be written when they were due: not all threads could be stopped */

	int leftover_fd[LEFTOVER_MAX]; /* memfds that a dead injector left open in the target */
	size_t leftover_count;
	size_t slots_written, slots_foreign, entries_written;
	uint64_t attach_stop_ns; /* how long the borrowed thread was held */
	const char *step;        /* what was being done, for the error message */
	bool left_behind;        /* an attach failed, and could not be undone altogether */
};

void attachment_init(struct attachment *attachment, pid_t pid);
/*
 * Pins the process: pidfd, start time, memory; and locks it against other injectors and other detaches until attachment_close or our death. -EBUSY: another
 * holds it.
 */
must_check int attachment_open(struct attachment *attachment, pid_t tid);
void attachment_close(struct attachment *attachment);
/* What recover has found is no more: there may be a session of our own. */
void attachment_forget(struct attachment *attachment);

/* Reads mappings and objects anew; what files say that are mapped as before, only once. On failure what was known stays. */
must_check int attachment_read_images(struct attachment *attachment);
/* Is any function left to slots? */
bool attachment_needs_slots(const struct attachment *attachment);
/* What a loader wants to know. */
struct loader_target attachment_loader_target(const struct attachment *attachment);
/* What live_patch_do wants to know; gadgets have been found. */
struct live_patch_target attachment_patch_target(const struct attachment *attachment);
const struct loader *loader_by_id(enum hi_loader id);

/* The target still runs the program it ran: 0; -ESRCH: it exited; -ENOEXEC: it replaced its program. */
must_check int attachment_check(const struct attachment *attachment);
/* /proc shows nothing through a thread that has ended, be it the leader: then another takes its place. -ESRCH: none is left. */
must_check int attachment_follow(struct attachment *attachment);
/* Makes what `control` says known to whoever comes after us: all but the journal, which is kept up entry by entry. Before the step that it tells of. */
must_check int attachment_store(const struct attachment *attachment);

#endif
