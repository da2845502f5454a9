/* SPDX-License-Identifier: MIT */
/*
 * sandbox.c - see sandbox.h. The entry point is sandbox_enter. Its order matters: steps that need a
 * capability come before the change of ids, and the filter is last, as it forbids the other steps.
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "landlock.h"
#include "sandbox_filter.h"

#define FIRST_FD 3
#define MOVED_FD 256 /* a temporary number, out of the range that is being filled */

#define FILE_BYTES_MAX (4ull << 30)
/* the symbols of a browser need more than this; the bound is for processing that never ends */
#define MEMORY_BYTES_MIN (1ull << 30)
#define MEMORY_BYTES_MAX (16ull << 30)
#define DESCRIPTORS_MAX 64

/* ---- descriptors ----------------------------------------------------------------------------- */

static int occupy_standard_descriptors(void)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return -errno;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) < 0)
			return -errno;
	return 0; /* the descriptor `null` itself is closed together with all others */
}

int sandbox_keep(int *const fds[], size_t count)
{
	int next = FIRST_FD;

	for (size_t i = 0; i < count; i++) {
		const int moved = *fds[i] < 0 ? *fds[i] : fcntl(*fds[i], F_DUPFD_CLOEXEC, MOVED_FD);
		if (*fds[i] >= 0 && moved < 0)
			return -errno;
		*fds[i] = moved;
	}
	int err = occupy_standard_descriptors();
	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		if (*fds[i] < 0)
			continue;
		if (dup3(*fds[i], next, O_CLOEXEC) < 0)
			return -errno;
		*fds[i] = next++;
	}
	closefrom(next);
	return 0;
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void limit(int resource, rlim_t bound)
{
	struct rlimit now;

	if (getrlimit(resource, &now))
		return;
	now.rlim_max = now.rlim_max < bound ? now.rlim_max : bound;
	now.rlim_cur = now.rlim_cur < now.rlim_max ? now.rlim_cur : now.rlim_max;
	(void)setrlimit(resource, &now);
}

static rlim_t memory_bound(void)
{
	const uint64_t half =
		(uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;

	return half < MEMORY_BYTES_MIN   ? MEMORY_BYTES_MIN
	       : half > MEMORY_BYTES_MAX ? MEMORY_BYTES_MAX
					 : half;
}

/* RLIMIT_NPROC is not set: it counts all processes of the user. */
static void set_limits(void)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, DESCRIPTORS_MAX);
	limit(RLIMIT_FSIZE, FILE_BYTES_MAX);
	/* the shadow memory of a sanitizer takes terabytes of address space */
	if (!SANDBOX_IS_SANITIZED)
		limit(RLIMIT_AS, memory_bound());
}

/* ---- rights ---------------------------------------------------------------------------------- */

/*
 * Without CAP_SETPCAP the bounding set stays. That does not matter: the child never executes a
 * program, and executing one would give it nothing.
 */
static void empty_bounding_set(void)
{
	for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; capability++)
		;
}

static int give_up_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

static bool become(struct identity user)
{
	uid_t real, effective, saved;

	if (geteuid() == 0 && setgroups(0, NULL) == 0 &&
	    setresgid(user.gid, user.gid, user.gid) == 0)
		(void)!setresuid(user.uid, user.uid, user.uid);
	return !getresuid(&real, &effective, &saved) && real == user.uid && effective == user.uid &&
	       saved == user.uid;
}

/* All but the filter, which forbids these steps. */
static int give_up(struct identity user, struct sandbox_state *state)
{
	set_limits();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -EPERM;
	empty_bounding_set();
	state->is_user = become(user);
	if (give_up_capabilities())
		return -EPERM;
	/* otherwise other processes of that user could take the child and its files over */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return 0;
}

int sandbox_enter(struct identity user, int ask_fd, struct sandbox_state *out_state)
{
	struct sandbox_state state = {0};
	const int err = give_up(user, &state);

	if (err)
		return err;
	state.has_filter = sandbox_filter(ask_fd) == 0;
	if (!state.is_user && !state.has_filter)
		return -EPERM;
	*out_state = state;
	return 0;
}

int sandbox_enter_network(struct identity user, const char *const *readable, int writable,
			  struct sandbox_state *out_state)
{
	struct sandbox_state state = {0};
	const int err = give_up(user, &state);

	if (err)
		return err;
	state.has_landlock = landlock_restrict(readable, writable) == 0;
	state.has_filter = sandbox_filter_network() == 0;
	/* root's files must not be within reach */
	if ((!state.is_user || user.uid == 0) && !state.has_landlock)
		return -EPERM;
	*out_state = state;
	return 0;
}
