/* SPDX-License-Identifier: MIT */
/*
 * loader_dlopen.c - the classic shim: the target's own dlopen loads the payload, so that debuggers
 * and crash reports know it by name.
 *
 * This is the only place where code of the target's libraries runs for the injector. So it runs
 * only on a thread that was proved to be at a safe point (safepoint.h), and afterwards restores
 * what such a call leaves behind in a thread: errno and the pending dlerror. The call's stack is
 * the far end of the arena's state, which is empty while a loader works; so even if the injector
 * dies in the middle, nothing exists that cannot be found from the arena's mapping.
 *
 * The file is a memfd in the target (payload_file.h), opened once as /proc/thread-self/fd/N. For a
 * name that it already knows, glibc returns the object that it already has. So the path is spelled
 * in one of many equivalent ways, and the inode of the result is compared with the memfd's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>

#include "clock.h"
#include "loader.h"
#include "payload_file.h"
#include "safepoint.h"
#include "steps.h"

#define PATH_BEGIN "/proc/thread-self/fd/"
#define SHOWN_NAME "[" HI_MEMFD_NAME "]" /* replaces the path once the file is loaded */
#define STACK_BYTES (512u << 10)
/* dlopen may have to wait for another thread's dlopen, with all its constructors */
#define CALL_MS 10000
#define RTLD_DLOPEN 0x80000000u /* __libc_dlopen_mode requires this flag to act like dlopen */
#define SPELLINGS 64u
#define OBJECTS_MAX 10000u
#define LIST_ATTEMPTS 200
#define LIST_PAUSE_NS 1000000

/* ---- calls in the target --------------------------------------------------------------------- */

static remote_addr stack_top(const struct loader_target *target)
{
	return target->control->arena + target->control->state.offset + target->control->state.size;
}

static int call_address(const struct loader_target *target, struct remote *remote,
			remote_addr function, const uint64_t argument[4], uint64_t *out_result)
{
	return remote_call(remote, function, argument, stack_top(target), CALL_MS, out_result);
}

static int call_name(const struct loader_target *target, struct remote *remote, const char *name,
		     const uint64_t argument[4], uint64_t *out_result)
{
	remote_addr function;
	int err = elf_images_resolve(target->images, name, &function, NULL);

	return err ? err : call_address(target, remote, function, argument, out_result);
}

/*
 * What the calls change and what must be restored: the thread's errno. (The part of the arena's
 * state that served as stack is zeroed.)
 */
struct footprint {
	remote_addr errno_at;
	int errno_value;
};

/* Arranges that the thread restores errno itself on its way back if the injector dies. */
static int keep_errno(const struct loader_target *target, struct remote *remote,
		      const struct footprint *footprint)
{
	const uint64_t words[] = {footprint->errno_at, (uint32_t)footprint->errno_value};
	const remote_addr entry = target->control->arena + target->control->gate.offset +
				  (remote_addr)HI_GATE_RESTORE * HI_GATE_STRIDE;
	const remote_addr at = entry + HI_GATE_BYTES + offsetof(struct hi_gate_words, restore_at);
	int err = memory_write(target->memory, at, words, sizeof(words));

	return err ? err : remote_return_through(remote, entry);
}

static int footprint_save(const struct loader_target *target, struct remote *remote,
			  struct footprint *out_footprint)
{
	struct footprint footprint;
	int err = call_name(target, remote, "__errno_location", (uint64_t[4]){0},
			    &footprint.errno_at);

	if (!err)
		err = memory_read(target->memory, footprint.errno_at, &footprint.errno_value,
				  sizeof(footprint.errno_value));
	if (!err)
		err = keep_errno(target, remote, &footprint);
	if (!err)
		*out_footprint = footprint;
	return err;
}

/*
 * Locked memory (mlockall(MCL_FUTURE) in the target) cannot be dropped; the arena's memory need not
 * be locked.
 */
static int zero_stack(const struct loader_target *target, struct remote *remote)
{
	const remote_addr stack = stack_top(target) - STACK_BYTES;
	int err = remote_syscall_or_fail(remote, SYS_madvise,
					 (uint64_t[6]){stack, STACK_BYTES, MADV_DONTNEED}, NULL);

	if (err != -EINVAL)
		return err;
	err = remote_syscall_or_fail(remote, SYS_munlock, (uint64_t[6]){stack, STACK_BYTES}, NULL);
	return err ? err
		   : remote_syscall_or_fail(remote, SYS_madvise,
					    (uint64_t[6]){stack, STACK_BYTES, MADV_DONTNEED}, NULL);
}

static int footprint_restore(const struct loader_target *target, struct remote *remote,
			     const struct footprint *footprint)
{
	int err = memory_write(target->memory, footprint->errno_at, &footprint->errno_value,
			       sizeof(footprint->errno_value));
	int zeroed = zero_stack(target, remote);
	int cleared = remote_return_through(remote, 0);

	return err ? err : zeroed ? zeroed : cleared;
}

/* ---- what is loaded -------------------------------------------------------------------------- */

struct loaded {
	remote_addr lo, hi; /* from first to last mapping; 0 = not loaded */
	uint64_t inode;
};

static int find_loaded(const struct remote *remote, struct loaded *out_loaded)
{
	struct loaded loaded = {0};
	struct maps maps;
	size_t i;
	int err = maps_read(remote->tracee.pid, remote->tracee.tid, &maps);

	if (err)
		return err;
	for (i = 0; i < maps.count; i++) {
		const struct mapping *mapping = &maps.mapping[i];

		if (strcmp(mapping->path, "/memfd:" LOADER_DLOPEN_MEMFD) != 0)
			continue;
		if (!loaded.lo) {
			loaded.lo = mapping->lo;
			loaded.inode = mapping->inode;
		}
		loaded.hi = mapping->hi;
	}
	maps_close(&maps);
	*out_loaded = loaded;
	return 0;
}

/*
 * Is this link map node the payload's? A library that was loaded from another file may have been at
 * the same address; its node, although freed, still contains that address. So the name is compared,
 * too.
 */
static bool is_ours(const struct loader_target *target, const struct link_map *link,
		    remote_addr base)
{
	char name[sizeof(SHOWN_NAME)];

	return link->l_addr == base &&
	       !memory_read(target->memory, (remote_addr)(uintptr_t)link->l_name, name,
			    sizeof(name)) &&
	       (!memcmp(name, SHOWN_NAME, sizeof(name)) || !memcmp(name, PATH_BEGIN, sizeof(name)));
}

static int look_for_handle(const struct loader_target *target, remote_addr base,
			   uint64_t *out_handle)
{
	struct r_debug debug;
	struct link_map link;
	struct steps steps = {OBJECTS_MAX};
	remote_addr at = 0;
	int err = memory_read(target->memory, target->images->r_debug, &debug, sizeof(debug));

	if (!err)
		at = (remote_addr)(uintptr_t)debug.r_map;
	while (!err && at && steps_take(&steps)) {
		err = memory_read(target->memory, at, &link, sizeof(link));
		if (!err && is_ours(target, &link, base)) {
			*out_handle = at;
			return 0;
		}
		at = (remote_addr)(uintptr_t)link.l_next;
	}
	return err ? err : -ENOENT;
}

/*
 * glibc's handle is the object's struct link_map. It is searched for here because dlopen's result
 * is not read, or because the injector died before it recorded the handle. The other threads keep
 * running. If one of them unloads a library during the walk, the list may lead nowhere or in
 * circles; then the walk restarts from the beginning of the list.
 */
static int find_handle(const struct loader_target *target, remote_addr base, uint64_t *out_handle)
{
	const struct timespec pause = {.tv_nsec = LIST_PAUSE_NS};
	int err = look_for_handle(target, base, out_handle);

	for (unsigned attempt = 1; (err == -ENOENT || err == -EFAULT) && attempt < LIST_ATTEMPTS;
	     attempt++) {
		nanosleep(&pause, NULL);
		err = look_for_handle(target, base, out_handle);
	}
	return err;
}

/* ---- load ------------------------------------------------------------------------------------ */

/*
 * /proc/thread-self/fd/./././N: each number of dots is a different name to the dynamic linker, and
 * the same file to the kernel.
 */
static void spell_path(int fd, char *path, size_t size)
{
	unsigned char random = 0;
	size_t used = (size_t)snprintf(path, size, "%s", PATH_BEGIN);
	unsigned dots;

	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	for (dots = random % SPELLINGS; dots > 0; dots--)
		used += (size_t)snprintf(path + used, size - used, "./");
	snprintf(path + used, size - used, "%d", fd);
}

/*
 * The results of dlopen and dlclose are not requested from remote_call. With a requested result, if
 * the injector died meanwhile, the thread would use a result of 0 as the number of a system call,
 * read(), with whatever arguments the function has left (remote_call). The effect of the call can
 * be seen in maps. A pending error message of the call is fetched with dlerror, so that the
 * program's next dlerror does not return it.
 */
static int call_dlopen(const struct loader_target *target, struct remote *remote, int fd,
		       struct loaded *out_loaded)
{
	char path[3 * SPELLINGS + 32];
	uint64_t flags = RTLD_NOW | RTLD_LOCAL;
	struct loaded loaded;
	remote_addr function;
	int err;

	spell_path(fd, path, sizeof(path));
	if (strlen(path) >= remote->scratch_size)
		return -ENAMETOOLONG;
	err = memory_write(target->memory, remote->scratch, path, strlen(path) + 1);
	if (err)
		return err;
	if (elf_images_resolve(target->images, "dlopen", &function, NULL)) {
		err = elf_images_resolve(target->images, "__libc_dlopen_mode", &function, NULL);
		flags |= RTLD_DLOPEN;
	}
	if (!err)
		err = call_address(target, remote, function, (uint64_t[4]){remote->scratch, flags},
				   NULL);
	if (!err)
		err = find_loaded(remote, &loaded);
	if (err)
		return err;
	if (!loaded.lo) {
		(void)call_name(target, remote, "dlerror", (uint64_t[4]){0}, NULL);
		return -ELIBACC; /* the target sees no /proc, or may open no more descriptors */
	}
	*out_loaded = loaded;
	return 0;
}

static int call_dlclose(const struct loader_target *target, struct remote *remote, uint64_t handle)
{
	struct loaded loaded;
	remote_addr function;
	int err = elf_images_resolve(target->images, "dlclose", &function, NULL);

	if (err)
		err = elf_images_resolve(target->images, "__libc_dlclose", &function, NULL);
	if (!err)
		err = call_address(target, remote, function, (uint64_t[4]){handle}, NULL);
	if (!err)
		err = find_loaded(remote, &loaded);
	if (err || !loaded.lo)
		return err;
	(void)call_name(target, remote, "dlerror", (uint64_t[4]){0}, NULL);
	return -EBUSY;
}

/*
 * The path leads to the file only inside the target, and only while the descriptor is open. A
 * debugger that reads the path in the list of objects would open a descriptor of its own instead:
 * perhaps a pipe, from which it then reads forever while the program is stopped. So the visible
 * name is replaced, in place; the dynamic linker keeps the names that it compares with elsewhere,
 * too.
 */
static void replace_shown_name(const struct loader_target *target, uint64_t handle)
{
	static const char shown[] = SHOWN_NAME;
	struct link_map link;
	char path[sizeof(shown)];

	if (memory_read(target->memory, handle, &link, sizeof(link)))
		return;
	const remote_addr at = (remote_addr)(uintptr_t)link.l_name;
	if (!memory_read(target->memory, at, path, sizeof(path)) &&
	    !memcmp(path, PATH_BEGIN, sizeof(path)))
		(void)!memory_write(target->memory, at, shown, sizeof(shown));
}

static int load_file(const struct loader_target *target, struct remote *remote, int fd,
		     uint64_t inode)
{
	struct hi_control *control = target->control;
	struct loaded loaded;
	uint64_t handle;
	int err = call_dlopen(target, remote, fd, &loaded);

	if (!err)
		err = find_handle(target, loaded.lo, &handle);
	if (err)
		return err;
	control->dlopen_handle = handle;
	replace_shown_name(target, handle);
	if (loaded.inode != inode) {
		if (call_dlclose(target, remote, handle) == 0)
			control->dlopen_handle = 0;
		return -EEXIST;
	}
	control->payload_base = loaded.lo;
	control->payload_size = loaded.hi - loaded.lo;
	return 0;
}

static int dlopen_load(const struct loader_target *target, struct remote *remote)
{
	struct footprint footprint;
	uint64_t inode = 0;
	int fd, closed;
	int err = footprint_save(target, remote, &footprint);

	if (err)
		return err;
	err = payload_file_create(target, remote, &fd, &inode);
	if (!err) {
		err = load_file(target, remote, fd, inode);
		closed = payload_file_close(remote, fd);
		err = err ? err : closed;
	}
	closed = footprint_restore(target, remote, &footprint);
	return err ? err : closed;
}

/* ---- unload ---------------------------------------------------------------------------------- */

static int close_handle(const struct loader_target *target, struct remote *remote, uint64_t handle)
{
	struct footprint footprint;
	int restored, err = footprint_save(target, remote, &footprint);

	if (err)
		return err;
	err = call_dlclose(target, remote, handle);
	restored = footprint_restore(target, remote, &footprint);
	return err ? err : restored;
}

/*
 * Unmaps an image that is mapped but is no object of the dynamic linker. The dynamic linker gave up
 * in the middle, under a seccomp filter that became active again when the injector died, and that
 * did not let it unmap the image either.
 */
static int unmap_stray(struct remote *remote)
{
	struct maps maps;
	int err = maps_read(remote->tracee.pid, remote->tracee.tid, &maps);

	if (err)
		return err;
	for (size_t i = 0; !err && i < maps.count; i++) {
		const struct mapping *mapping = &maps.mapping[i];

		if (strcmp(mapping->path, "/memfd:" LOADER_DLOPEN_MEMFD) == 0)
			err = remote_syscall_or_fail(
				remote, SYS_munmap,
				(uint64_t[6]){mapping->lo, mapping->hi - mapping->lo}, NULL);
	}
	maps_close(&maps);
	return err;
}

static int unload_image(const struct loader_target *target, struct remote *remote, remote_addr base)
{
	uint64_t handle = target->control->dlopen_handle;
	const int err = handle ? 0 : find_handle(target, base, &handle);

	if (err == -ENOENT)
		return unmap_stray(remote);
	return err ? err : close_handle(target, remote, handle);
}

static int dlopen_unload(const struct loader_target *target, struct remote *remote)
{
	struct loaded loaded;
	int err = find_loaded(remote, &loaded);

	if (!err && loaded.lo)
		err = unload_image(target, remote, loaded.lo);
	if (!err) {
		target->control->dlopen_handle = 0;
		err = payload_file_close_leftovers(remote);
	}
	return err;
}

/* ---- borrow ---------------------------------------------------------------------------------- */

/*
 * Not for musl: its dlclose does nothing, and its libc has no unwind information with which to
 * prove a safe point.
 */
static int dlopen_borrow(const struct loader_target *target, struct remote *remote, int deadline_ms)
{
	struct tracee tracee;
	remote_addr address;
	int64_t deadline_ns = (int64_t)clock_now_ns() + deadline_ms * 1000000ll;
	int64_t left_ms = deadline_ms;
	int err;

	if (elf_images_resolve(target->images, "gnu_get_libc_version", &address, NULL))
		return -ENOTSUP;
	do {
		err = safepoint_find(target->pid, target->images, target->memory, (int)left_ms,
				     &tracee);
		if (err)
			return err;
		err = remote_adopt(remote, &tracee, target->memory, target->gadgets);
		if (!err)
			return 0;
		(void)tracee_detach(&tracee);
		left_ms = (deadline_ns - (int64_t)clock_now_ns()) / 1000000;
		/*
		 * -EAGAIN: the thread was on a signal stack or a coroutine's, perhaps not for long
		 */
	} while (err == -EAGAIN && left_ms > 0);
	return err;
}

const struct loader loader_dlopen = {
	.name = "dlopen",
	.id = HI_LOADER_DLOPEN,
	.borrow = dlopen_borrow,
	.load = dlopen_load,
	.unload = dlopen_unload,
};
