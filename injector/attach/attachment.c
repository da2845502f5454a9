/* SPDX-License-Identifier: MIT */
/* attachment.c - see attachment.h. */
#include "attachment.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "force_write.h"
#include "memory_sharers.h"
#include "proc_file.h"
#include "same_memory.h"
#include "watchdog.h"

#define LOCK_TRIES 50
#define LOCK_PAUSE_NS 10000000

void attachment_init(struct attachment *attachment, pid_t pid)
{
	*attachment = (struct attachment){.pid = pid,
					  .tid = pid,
					  .pidfd = -1,
					  .memory = {.fd = -1},
					  .arena = {.memfd = -1, .target_fd = -1},
					  .probes = PROBES_NONE};
	publisher_open(&attachment->publisher);
}

/*
 * The lock is a flock of the target's memory file. Every process that could do what we do opens
 * that file, whatever its user or runtime directory. (Through another mount of /proc the lock is
 * not shared: so attach looks for an arena once more, and detach for a heartbeat.) An injector that
 * was just killed holds the lock until the kernel has closed its files.
 */
static int lock(int fd)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	for (unsigned tries = LOCK_TRIES; flock(fd, LOCK_EX | LOCK_NB); tries--) {
		if (errno != EWOULDBLOCK)
			return -errno;
		if (!tries)
			return -EBUSY;
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* One that has executed a program since it was listed is no longer ours to lock. */
static bool still_shares(const struct attachment *attachment, pid_t pid)
{
	struct same_memory_reference own;
	return !same_memory_open(attachment->pid, &own) &&
	       same_memory_ask(&own, pid) != SAME_MEMORY_NO;
}

static int lock_sharer(struct attachment *attachment, pid_t pid)
{
	int *fd = realloc(attachment->sharers_fd, (attachment->sharers + 1) * sizeof(*fd));
	if (!fd)
		return -ENOMEM;
	attachment->sharers_fd = fd;
	const int err = proc_open(pid, pid, "mem", O_RDONLY, &fd[attachment->sharers]);
	if (err)
		return err == -ESRCH ? 0 : err; /* it has just ended */
	if (!still_shares(attachment, pid)) {
		close(fd[attachment->sharers]);
		return 0;
	}
	return lock(fd[attachment->sharers++]);
}

/* The process with the lowest number above `before`: the own one, or one that is locked with it. */
static pid_t next_to_lock(pid_t own, const struct memory_threads *threads, pid_t before)
{
	pid_t next = own > before ? own : 0;
	for (size_t i = 0; i < threads->count; i++) {
		const struct memory_thread *thread = &threads->thread[i];
		if (!thread->is_awaited && thread->pid > before && (!next || thread->pid < next))
			next = thread->pid;
	}
	return next;
}

/*
 * Processes that share one memory each have a memory file of their own. All of them are locked, as
 * any may end, the lower numbers first: so of two that come at once one gets them all. A child of
 * vfork is not: it is about to have a memory of its own, and its parent, which is locked, lives
 * until then.
 */
static int lock_all(struct attachment *attachment)
{
	struct memory_threads threads;
	int err = memory_threads_list(attachment->pid, &threads);
	if (err)
		return err;
	for (pid_t pid = 0; !err && (pid = next_to_lock(attachment->pid, &threads, pid));)
		err = pid == attachment->pid ? lock(attachment->memory.fd)
					     : lock_sharer(attachment, pid);
	memory_threads_close(&threads);
	return err;
}

int attachment_open(struct attachment *attachment, pid_t tid)
{
	attachment->tid = tid;
	attachment->step = "looking at the process";
	attachment->pidfd = (int)syscall(SYS_pidfd_open, attachment->pid, 0);
	if (attachment->pidfd < 0 && errno != ENOSYS)
		return -errno;
	int err = proc_start_time(attachment->pid, &attachment->start_time);
	if (!err && attachment->memory.fd < 0)
		err = memory_open(&attachment->memory, attachment->pid, tid);
	if (err)
		return err;
	attachment->memory.force = force_write;
	(void)!proc_auxv(attachment->pid, tid, AT_RANDOM, &attachment->memory.witness);
	/* start it now: the cost of a fork grows with our memory, which is still small */
	watchdog_start();
	return lock_all(attachment);
}

void attachment_forget(struct attachment *attachment)
{
	if (attachment->control_is_copy)
		arena_control_free(attachment->control);
	attachment->control = NULL;
	attachment->control_is_copy = attachment->is_inherited = attachment->is_early = false;
	attachment->leftover_count = 0;
}

void attachment_close(struct attachment *attachment)
{
	attachment_forget(attachment);
	probes_remove(&attachment->probes);
	arena_close(&attachment->arena);
	publisher_close(&attachment->publisher);
	hotspot_close(&attachment->hotspot);
	elf_images_close(&attachment->images);
	maps_close(&attachment->maps);
	look_close(&attachment->look);
	free(attachment->unloadable.object);
	memory_close(&attachment->memory);
	if (attachment->pidfd >= 0)
		close(attachment->pidfd);
	for (size_t i = 0; i < attachment->sharers; i++)
		close(attachment->sharers_fd[i]);
	free(attachment->sharers_fd);
	attachment_init(attachment, attachment->pid);
}

int attachment_read_images(struct attachment *attachment)
{
	struct maps maps;
	int err = maps_read(attachment->pid, attachment->tid, &maps);
	if (err)
		return err;
	err = elf_images_update(attachment->pid, &maps, &attachment->memory, &attachment->images);
	if (err) {
		maps_close(&maps);
		return err;
	}
	maps_close(&attachment->maps);
	attachment->maps = maps;
	return 0;
}

bool attachment_needs_slots(const struct attachment *attachment)
{
	for (unsigned function = 0; function < HI_FUNCTION_COUNT; function++)
		if (attachment->by_slot.original[function])
			return true;
	return false;
}

struct loader_target attachment_loader_target(const struct attachment *attachment)
{
	return (struct loader_target){
		.pid = attachment->pid,
		.memory = &attachment->memory,
		.maps = &attachment->maps,
		.images = &attachment->images,
		.gadgets = &attachment->gadgets,
		.payload = &attachment->payload,
		.control = attachment->control,
		.memfd = attachment->arena.memfd,
		.arena_fd = attachment->arena.target_fd,
	};
}

struct live_patch_target attachment_patch_target(const struct attachment *attachment)
{
	return (struct live_patch_target){
		.pid = attachment->pid,
		.tid = attachment->tid,
		.memory = &attachment->memory,
		.gadgets = &attachment->gadgets,
		.payload = &attachment->payload,
		.payload_base = attachment->control->payload_base,
		.state = arena_state(attachment->control),
	};
}

int attachment_check(const struct attachment *attachment)
{
	struct pollfd exited = {.fd = attachment->pidfd, .events = POLLIN};
	if (attachment->pidfd >= 0 && poll(&exited, 1, 0) > 0)
		return -ESRCH;
	if (memory_is_alive(&attachment->memory))
		return memory_is_of(&attachment->memory, attachment->tid) ? 0 : -ENOEXEC;
	/*
	 * A process may take long between giving up its memory and its end: it may have to unmount
	 * what only it had mounted, for example.
	 */
	return proc_has_memory(attachment->pid, 0) ? -ENOEXEC : -ESRCH;
}

static bool is_showing(pid_t pid, pid_t tid)
{
	struct proc_status status;
	return !proc_status_read(pid, tid, &status) && status.state != 'Z' && status.state != 'X';
}

int attachment_follow(struct attachment *attachment)
{
	if (is_showing(attachment->pid, attachment->tid))
		return 0;
	pid_t *tids;
	size_t count;
	int err = proc_tasks(attachment->pid, &tids, &count);
	if (err)
		return err;
	err = -ESRCH;
	for (size_t i = 0; i < count && err; i++)
		if (is_showing(attachment->pid, tids[i])) {
			attachment->tid = attachment->memory.tid = tids[i];
			err = 0;
		}
	free(tids);
	return err;
}

int attachment_store(const struct attachment *attachment)
{
	return attachment->is_early ? 0 : arena_note(attachment->control, &attachment->memory);
}
