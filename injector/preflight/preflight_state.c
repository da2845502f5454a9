/* SPDX-License-Identifier: MIT */
/*
 * preflight_state.c - is the process in a suitable state: can its threads be stopped and borrowed,
 * and is there room for the injector's mappings? Enter at the check_ functions.
 */
#include "preflight_checks.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arch.h"
#include "arena.h"
#include "freezer.h"
#include "proc_file.h"

int check_shadow_stack(struct subject *subject)
{
	if (!subject->out->status.shadow_stack)
		return 0;
	return refuse(subject, PREFLIGHT_SHADOW_STACK, "start it with " ARCH_SHADOW_STACK_OFF,
		      "it runs with a shadow stack, which a borrowed thread would violate");
}

int check_frozen(struct subject *subject)
{
	char remedy[sizeof(subject->out->remedy)];

	if (!freezer_is_frozen(subject->out->pid, remedy, sizeof(remedy)))
		return 0;
	return refuse(subject, PREFLIGHT_FROZEN, remedy, "its control group is frozen");
}

/* ---- uninterruptible ------------------------------------------------------------------------- */

#define STUCK_LOOKS 25
#define STUCK_PAUSE_NS 20000000

static int look_for_stoppable(struct subject *subject, pid_t tid, const struct proc_status *status)
{
	(void)subject, (void)tid;
	return status->state != 'D';
}

/*
 * Are all threads in state D? Causes: a short wait for a disk, a vfork that lasts until the child
 * has exec'd, or a file server that is gone.
 */
int check_uninterruptible(struct subject *subject)
{
	const struct timespec pause = {.tv_nsec = STUCK_PAUSE_NS};
	char where[64];

	for (unsigned look = 0; look < STUCK_LOOKS; look++) {
		int found = for_each_thread(subject, look_for_stoppable);

		if (found)
			return found < 0 ? found : 0;
		nanosleep(&pause, NULL);
	}
	if (read_system(proc_path(subject->out->pid, 0, "wchan").text, where, sizeof(where)) <= 0 ||
	    strcmp(where, "0") == 0)
		strcpy(where, "the kernel");
	return refuse(
		subject, PREFLIGHT_UNINTERRUPTIBLE,
		"see what it waits for (a vfork child, a disk, a file server), and try again",
		"none of its threads can be stopped: they wait uninterruptibly (state D) in %s",
		where);
}

/* ---- room ------------------------------------------------------------------------------------ */

/*
 * What the injector takes of a limit is not available to the target meanwhile: the target's
 * allocations could fail where they would not have failed. So the injector takes only a small part
 * of what is left.
 */
#define LEFT_SHARE 4 /* at most one part in so many */
/*
 * the injector needs 16 and those that its changes split; a page that changes its protection makes
 * two
 */
#define MAPPINGS_LEFT 256
#define MIB (1ull << 20)

/* The soft limit of that name in /proc/PID/limits; UINT64_MAX: unlimited, or not known. */
static uint64_t limit_of(pid_t pid, const char *name)
{
	char text[4096];
	const char *line;

	line = read_system(proc_path(pid, 0, "limits").text, text, sizeof(text)) > 0
		       ? strstr(text, name)
		       : NULL;
	if (!line)
		return UINT64_MAX;
	line += strlen(name);
	line += strspn(line, " ");
	return strncmp(line, "unlimited", 9) == 0 ? UINT64_MAX : strtoull(line, NULL, 10);
}

static int refuse_room(struct subject *subject, const char *what, const char *option,
		       uint64_t limit, uint64_t used, uint64_t need)
{
	char remedy[64];

	snprintf(remedy, sizeof(remedy), "raise the limit: prlimit --pid %d --%s=%llu",
		 subject->out->pid, option, (unsigned long long)(used + 2 * LEFT_SHARE * need));
	return refuse(subject, PREFLIGHT_NO_ROOM, remedy,
		      "its %s limit leaves no room for %llu MiB of ours beside what it may need "
		      "itself (%llu of %llu MiB are used)",
		      what, (unsigned long long)(need / MIB + 1), (unsigned long long)(used / MIB),
		      (unsigned long long)(limit / MIB));
}

/*
 * The unwind tables of the loaded objects come on top of this plan, at most some megabytes of
 * address space.
 */
static int check_spaces(struct subject *subject)
{
	static struct hi_control layout;
	const pid_t pid = subject->out->pid;
	const uint64_t space = limit_of(pid, "Max address space"),
		       data = limit_of(pid, "Max data size");
	const uint64_t used_data = subject->out->status.writable_bytes;
	uint64_t used_space;

	arena_layout(subject->plan, &layout);
	used_space = (uint64_t)read_system_number(proc_path(pid, 0, "statm").text, 0) *
		     (uint64_t)sysconf(_SC_PAGESIZE);
	if (space != UINT64_MAX && used_space + LEFT_SHARE * layout.arena_size > space)
		return refuse_room(subject, "address space", "as", space, used_space,
				   layout.arena_size);
	/* the rest of the arena is shared memory, or a few pages */
	if (data != UINT64_MAX && used_data + LEFT_SHARE * layout.state.size > data)
		return refuse_room(subject, "data size", "data", data, used_data,
				   layout.state.size);
	return 0;
}

/*
 * Is every descriptor number below `limit` in use? Numbers from `limit` on may be in use, too, by
 * files that were opened before the limit was set.
 */
static bool is_full_of_files(const struct preflight *out, uint64_t limit)
{
	DIR *fds = opendir(proc_path(out->pid, out->tid, "fd").text);
	const struct dirent *entry;
	uint64_t below = 0;

	if (!fds)
		return false;
	while ((entry = readdir(fds)))
		below += entry->d_name[0] != '.' && strtoull(entry->d_name, NULL, 10) < limit;
	closedir(fds);
	return below == limit;
}

static int check_files(struct subject *subject)
{
	const pid_t pid = subject->out->pid;
	const uint64_t limit = limit_of(pid, "Max open files");
	char remedy[64];

	if (!is_full_of_files(subject->out, limit))
		return 0;
	snprintf(remedy, sizeof(remedy), "raise the limit: prlimit --pid %d --nofile=%llu", pid,
		 (unsigned long long)limit + 64);
	return refuse(subject, PREFLIGHT_NO_ROOM, remedy,
		      "it has all %llu files open that it may, and we need one for a moment",
		      (unsigned long long)limit);
}

int check_room(struct subject *subject)
{
	const long mappings = read_system_number("/proc/sys/vm/max_map_count", 0);
	char remedy[64];
	int answer;

	if (mappings > 0 && subject->maps.count + MAPPINGS_LEFT > (size_t)mappings) {
		snprintf(remedy, sizeof(remedy), "raise it: sysctl vm.max_map_count=%ld",
			 mappings + 1024);
		return refuse(subject, PREFLIGHT_NO_ROOM, remedy,
			      "it has %zu of the %ld mappings that vm.max_map_count allows, no "
			      "room for ours",
			      subject->maps.count, mappings);
	}
	answer = check_files(subject);
	return answer ? answer : check_spaces(subject);
}
