/* SPDX-License-Identifier: MIT */
/*
 * identity.c - see identity.h.
 *
 * The window changes the filesystem ids (setfsuid) of one thread. Unlike seteuid, this keeps the
 * rights over the target, which are needed to open files under /proc/PID. With the ids the kernel
 * removes root's file capabilities (CAP_DAC_OVERRIDE and similar) from the effective set, and
 * restores them later.
 */
#include "identity.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hi_units.h"

#define NOBODY 65534u

static bool id_from_environment(const char *name, uint32_t *out_id)
{
	const char *text = getenv(name), *end;
	uint64_t id;

	/* the last one means "none" to the kernel */
	if (!text || hi_parse_digits(text, &id, &end) || *end || id >= UINT32_MAX)
		return false;
	*out_id = (uint32_t)id;
	return true;
}

struct identity identity_of_caller(void)
{
	struct identity caller = {.uid = getuid(), .gid = getgid()};
	uint32_t uid, gid;

	if (geteuid() != 0)
		return (struct identity){.uid = geteuid(), .gid = getegid()};
	if (caller.uid == 0 && id_from_environment("SUDO_UID", &uid) &&
	    id_from_environment("SUDO_GID", &gid))
		caller = (struct identity){.uid = uid, .gid = gid};
	return caller;
}

struct identity identity_for_data_of(struct identity owner)
{
	const struct identity caller = identity_of_caller();

	return caller.uid ? caller : owner;
}

struct identity identity_to_run_as(struct identity identity)
{
	return identity.uid ? identity : (struct identity){.uid = NOBODY, .gid = NOBODY};
}

static bool is_for_files(struct identity wanted)
{
	/* With an invalid id these calls change nothing and return the current id. */
	return (uid_t)setfsuid((uid_t)-1) == wanted.uid && (gid_t)setfsgid((gid_t)-1) == wanted.gid;
}

/* The raw system call: the library function would change all threads. */
static int set_groups(int count, const gid_t *group)
{
	return syscall(SYS_setgroups, count, group) ? -errno : 0;
}

int identity_begin(struct identity wanted, struct identity_window *window)
{
	window->is_open = false;
	window->own = (struct identity){.uid = (uid_t)setfsuid((uid_t)-1),
					.gid = (gid_t)setfsgid((gid_t)-1)};
	/* a group of the caller's own choice would gain nothing */
	if (wanted.uid == window->own.uid)
		return 0;
	window->group_count = getgroups(IDENTITY_GROUPS_MAX, window->group);
	int err = window->group_count < 0 ? -errno : set_groups(0, NULL);
	if (err)
		return err;
	window->is_open = true;
	setfsgid(wanted.gid);
	setfsuid(wanted.uid);
	if (is_for_files(wanted))
		return 0;
	identity_end(window);
	return -EPERM;
}

void identity_end(const struct identity_window *window)
{
	if (!window->is_open)
		return;
	setfsuid(window->own.uid);
	setfsgid(window->own.gid);
	/* on failure the injector has fewer rights than before */
	(void)set_groups(window->group_count, window->group);
}
