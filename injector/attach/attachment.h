/* SPDX-License-Identifier: MIT */
/*
 * attachment.h - one target, all that is known of it and all that is held in it, from the first
 * look to the receipt.
 *
 * attach.c fills it or, after an injector died, recover.c from the control block found in the
 * target. detach.c empties it. attachment_close frees our side only, and works on a half-filled
 * attachment.
 */
#ifndef HI_ATTACHMENT_H
#define HI_ATTACHMENT_H

#include "arena.h"
#include "hotspot.h"
#include "loader.h"
#include "look.h"
#include "named_functions.h"
#include "publish.h"
#include "live_patch.h"
#include "probes.h"
#include "unhooked.h"

#define LEFTOVER_MAX 8

struct attachment {
	pid_t pid;
	pid_t tid;  /* a live thread, through which /proc is read */
	pid_t died; /* the process whose place another one has taken (heir.h); 0 = none */
	uint64_t start_time;
	int pidfd;       /* readable once the target has exited; -1 */
	int *sharers_fd; /* see attachment_open */
	size_t sharers;

	struct memory memory;
	struct maps maps;
	struct elf_images images;
	const struct hi_prefixes *prefixes; /* as in allocators_find */
	struct allocators allocators;
	struct entries entries;   /* functions that are hooked at their entry */
	struct allocator by_slot; /* functions of the first that remain to be hooked by slots */
	struct remote_gadgets gadgets;
	struct payload_image payload;
	const struct loader *loader;
	struct publisher publisher;

	struct hotspot hotspot; /* the code of a JVM */

	struct arena arena; /* of a session of our own */
	struct probes probes;
	/*
	 * the arena's own block, or a copy of a dead injector's; never a block that the target can
	 * write
	 */
	struct hi_control *control;
	bool control_is_copy;
	/* inherited by fork from an attached parent: the session is not this process's */
	bool is_inherited;
	/*
	 * the control block's first page is not private yet: nothing may be recorded there, and
	 * there is nothing to undo but mappings
	 */
	bool is_early;
	remote_addr entry[HOOKS_MAX]; /* gate entries */
	/* fingerprint of the loaded objects that were patched last */
	uint64_t link_map;
	remote_addr load_count; /* load_count.h; 0 = not known */
	bool is_blurred;        /* the list was changing when it was read */
	/* what the last round has read of the target, to see whether it is still the same */
	struct look look;
	/*
	 * the last round found all of that unchanged, and with it that the target runs the same
	 * program
	 */
	bool is_unchanged;
	/* when to write the slots of libraries that may be unloaded (clock.h); 0 = nothing to do */
	uint64_t unloadable_due_ns;
	/* those libraries */
	struct unloadable {
		struct unloadable_object {
			remote_addr lo;
			uint64_t inode, device;
			uint64_t since_ns; /* when it was seen first (clock.h) */
		} * object;
		size_t count;
		uint64_t loads; /* load_count.h, when they were noted; 0 = not known */
		/* those that were there at that time are hooked, or their allocators named */
		uint64_t hooked_ns, named_ns;
	} unloadable;
	/* allocators that are not hooked, of the attach and those that came later */
	struct unhooked_list unhooked;

	/* those slots could not be written when they were due: not all threads could be stopped */
	bool unloadable_missed;

	int leftover_fd[LEFTOVER_MAX]; /* memfds that a dead injector left open in the target */
	size_t leftover_count;
	bool had_file; /* a dead injector had left a file of its probes */
	size_t slots_written, slots_foreign, entries_written;
	uint64_t attach_stop_ns;               /* how long the borrowed thread was held */
	const struct named_functions *named;   /* to be hooked, too; NULL = none */
	char named_problem[NAMED_PROBLEM_MAX]; /* why these cannot be; empty = nothing */
	const char *step;                      /* the current step, for the error message */
	bool left_behind; /* an attach failed and could not be undone completely */
};

void attachment_init(struct attachment *attachment, pid_t pid);
/*
 * Pins the process: pidfd, start time, memory. Locks it against other injectors and other detaches
 * until attachment_close or our death; and with it all that share its memory (sharers_fd), but for
 * children of vfork. -EBUSY: another process holds a lock.
 */
must_check int attachment_open(struct attachment *attachment, pid_t tid);
void attachment_close(struct attachment *attachment);
/* Forgets what recover has found, once that is gone: a session of our own may follow. */
void attachment_forget(struct attachment *attachment);

/*
 * Reads mappings and objects anew. A file that is mapped as before is not read again. On failure
 * the previous state is kept.
 */
must_check int attachment_read_images(struct attachment *attachment);
/* Is any function left to slots? */
bool attachment_needs_slots(const struct attachment *attachment);
/* The input of a loader. */
struct loader_target attachment_loader_target(const struct attachment *attachment);
/* The input of live_patch_do. The gadgets must have been found. */
struct live_patch_target attachment_patch_target(const struct attachment *attachment);

/*
 * 0: the target still runs the same program. -ESRCH: it exited. -ENOEXEC: it replaced its program.
 */
must_check int attachment_check(const struct attachment *attachment);
/*
 * /proc shows nothing through a thread that has ended, even the leader. If attachment->tid has
 * ended, another thread replaces it. -ESRCH: no thread is left.
 */
must_check int attachment_follow(struct attachment *attachment);
/*
 * Stores `control` in the target for a later injector: all but the journal, which is updated entry
 * by entry. Must be called before the step that it announces.
 */
must_check int attachment_store(const struct attachment *attachment);

#endif
