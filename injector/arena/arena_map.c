/* SPDX-License-Identifier: MIT */
/*
 * arena_map.c - maps the arena, see arena.h.
 *
 * The order of steps matters if the injector dies: the memfd carries a complete control block
 * before its first mapping exists, and the first mapping covers the whole arena by name. So from
 * then on /proc/PID/maps leads to everything.
 */
#include "arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena_file.h"
#include "arena_reserve.h"
#include "code_swap.h"
#include "fault.h"
#include "gate_code.h"
#include "hi_page.h"
#include "kernel_flags.h"
#include "near_pages.h"
#include "target_memfd.h"

/* the stacks part is allocated in so many steps, each when the last one is half full */
#define STACKS_STEPS 64

static int map_fixed(struct remote *remote, uint64_t at, uint64_t size, int protection, int flags,
		     int fd, uint64_t offset)
{
	return remote_syscall_or_fail(remote, SYS_mmap,
				      (uint64_t[6]){at, size, (uint64_t)protection,
						    (uint64_t)(flags | MAP_FIXED), (uint64_t)fd,
						    offset},
				      NULL);
}

/*
 * Compares the mapped control block, as make_private does for other parts, before anything is
 * written there.
 */
static int check_control(const struct arena *arena, const struct memory *memory)
{
	uint8_t mapped[HI_PRIVATE_USED_BYTES];
	const struct hi_control *control = arena->shared;
	return memory_read(memory, arena->control->arena, mapped, sizeof(mapped)) ||
			       memcmp(mapped, control, sizeof(mapped)) != 0
		       ? -ESTALE
		       : 0;
}

/*
 * Excludes the arena from core dumps, except the staged code: that will be the program's own again,
 * and must be like its neighbours.
 */
static int leave_out_of_core_dumps(const struct hi_control *control, struct remote *remote)
{
	const uint64_t end = control->code[0].size ? control->stage.offset : control->arena_size,
		       rest = control->stage.offset + control->stage.size;
	const int err = remote_syscall_or_fail(
		remote, SYS_madvise, (uint64_t[6]){control->arena, end, MADV_DONTDUMP}, NULL);
	if (err || end == control->arena_size)
		return err;
	return remote_syscall_or_fail(
		remote, SYS_madvise,
		(uint64_t[6]){control->arena + rest, control->arena_size - rest, MADV_DONTDUMP},
		NULL);
}

static int map_parts(struct arena *arena, struct remote *remote, const struct arena_code *code)
{
	struct hi_control *control = arena->control;
	const int fd = arena->target_fd;
	remote_addr base;
	bool is_locking;
	int err =
		arena_reserve_file(remote, fd, code->hint, control->arena_size, &base, &is_locking);
	if (err)
		return err;
	control->arena = arena->shared->arena = base;
	/*
	 * Records for the cleanup of one process must not reach its forked children, nor the other
	 * way round.
	 */
	err = map_fixed(remote, base, HI_PRIVATE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	if (!err)
		err = check_control(arena, remote->memory);
	if (!err)
		err = arena_note(control, remote->memory);
	if (err)
		return err;
	near_pages_plan(control, remote->memory, code->maps, code->entries);
	err = near_pages_map(arena, remote, code->entries);
	if (!err && code_swap_stage(control, remote)) {
		memset(control->code, 0, sizeof(control->code));
		entries_drop_all(code->entries);
	}
	if (!err)
		err = gate_code_fill(arena, code);
	if (!err)
		err = arena_note(control, remote->memory);
	if (err)
		return err;

	const struct hi_part *tables = &control->tables, *image = &control->image,
			     *gate = &control->gate, *words = &control->words,
			     *state = &control->state;
	err = remote_syscall_or_fail(remote, SYS_mprotect,
				     (uint64_t[6]){base + tables->offset, tables->size, PROT_READ},
				     NULL);
	if (!err) /* image, probes and gate lie side by side */
		err = map_fixed(remote, base + image->offset,
				gate->offset + gate->size - image->offset, PROT_READ | PROT_EXEC,
				MAP_PRIVATE, fd, image->offset);
	if (!err)
		err = map_fixed(remote, base + words->offset, words->size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE, fd, words->offset);
	if (!err)
		err = arena_reserve_private(remote, base + state->offset, state->size, is_locking);
	if (!err)
		err = remote_syscall_or_fail(
			remote, SYS_madvise,
			(uint64_t[6]){base + state->offset + HI_STATE_KEPT_BYTES,
				      state->size - HI_STATE_KEPT_BYTES, MADV_WIPEONFORK},
			NULL);
	if (!err) /* not before MADV_WIPEONFORK: a child would have it, too */
		err = memory_write_u64(remote->memory,
				       base + state->offset + offsetof(struct hi_state, unforked),
				       1);
	if (!err)
		err = leave_out_of_core_dumps(control, remote);
	return err;
}

/* Makes pages private that show the file at this `offset`. */
static int make_pages_private(const struct arena *arena, const struct memory *memory,
			      remote_addr at, uint64_t size, uint64_t offset)
{
	const uint8_t *kept = arena_file_kept(arena, offset);
	uint8_t mapped[HI_PAGE_BYTES];
	int err = 0;
	for (uint64_t done = 0; done < size && !err; done += sizeof(mapped)) {
		err = memory_write(memory, at + done, kept + done, sizeof(uint64_t));
		if (!err && (memory_read(memory, at + done, mapped, sizeof(mapped)) ||
			     memcmp(mapped, kept + done, sizeof(mapped)) != 0))
			err = -ESTALE;
	}
	return err;
}

/*
 * A private page shows later writes to its file until the page itself is written to. So this writes
 * to each page one word of what it should already hold: other processes that have the file open may
 * have fewer rights than the target. From then on the contents are fixed, and are compared: since
 * the file was created another thread may have put another file under its number, or written to it.
 */
static int make_private(const struct arena *arena, const struct memory *memory)
{
	const struct hi_control *control = arena->control;
	const uint64_t from = control->image.offset;
	int err = make_pages_private(arena, memory, control->arena + from,
				     control->arena_size - from, from);
	for (unsigned number = 0; number < HI_NEAR_PAGES_MAX && control->near_page[number] && !err;
	     number++)
		err = make_pages_private(arena, memory, control->near_page[number], hi_page_bytes(),
					 control->near.offset + (uint64_t)number * hi_page_bytes());
	return err;
}

int arena_close_fd(struct remote *remote, int fd)
{
	if (!target_memfd_is_ours(remote->tracee.pid, remote->tracee.tid, fd))
		return 0; /* the program closed it */
	return remote_syscall_or_fail(remote, SYS_close, (uint64_t[6]){(uint64_t)fd}, NULL);
}

static int close_in_target(struct arena *arena, struct remote *remote)
{
	if (arena->target_fd < 0)
		return 0;
	int err = arena_close_fd(remote, arena->target_fd);
	if (!err)
		arena->target_fd = -1;
	return err;
}

int arena_map(struct arena *arena, struct remote *remote, const struct hi_control *layout,
	      const struct arena_code *code)
{
	*arena = (struct arena){.memfd = -1, .target_fd = -1};
	int err = arena_file_create(arena, remote);
	if (!err)
		err = arena_file_fill(arena, layout, code->payload);
	if (!err)
		err = map_parts(arena, remote, code);
	if (!err)
		err = make_private(arena, remote->memory);
	int close_err = close_in_target(arena, remote);
	if (!err)
		err = close_err;
	free(arena->kept);
	arena->kept = NULL;
	if (!err)
		return 0;

	if (arena->control && arena->control->arena)
		(void)arena_unmap(arena->control, remote, code->payload, false);
	(void)close_in_target(arena, remote); /* a second try, if the first one failed */
	arena_close(arena);
	/* to callers EAGAIN means that no thread could be borrowed */
	return err == -EAGAIN ? -ENOBUFS : err;
}

int arena_touch_ring(const struct arena *arena)
{
	const struct hi_part *ring = &arena->control->ring;
	const int err = fault_next("allocate_ring");
	if (err)
		return err;
	return fallocate(arena->memfd, 0, (off_t)ring->offset, (off_t)ring->size) ? -errno : 0;
}

/* A failure is no error: stacks that find no room are recorded with each sample. */
void arena_extend_stacks(struct arena *arena)
{
	const uint64_t step = arena->stacks_size / STACKS_STEPS,
		       used = __atomic_load_n(&arena->stacks->used, __ATOMIC_RELAXED);
	const uint64_t limit = arena->stacks_limit;
	if (limit >= arena->stacks_size || (limit && used < limit - step / 2))
		return;
	if (fallocate(arena->memfd, 0, (off_t)(arena->control->stacks.offset + limit), (off_t)step))
		return;
	arena->stacks_limit = limit + step;
	__atomic_store_n(&arena->stacks->limit, arena->stacks_limit, __ATOMIC_RELEASE);
}

void arena_free_rings(const struct arena *arena)
{
	const struct hi_control *control = arena->control;
	if (arena->memfd >= 0 && control) /* a failure costs only memory */
		(void)!fallocate(arena->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				 (off_t)control->ring.offset,
				 (off_t)(control->tables.offset - control->ring.offset));
}

void arena_close(struct arena *arena)
{
	if (arena->shared)
		munmap(arena->shared, arena->shared_size);
	arena_control_free(arena->control);
	if (arena->memfd >= 0)
		close(arena->memfd);
	*arena = (struct arena){.memfd = -1, .target_fd = -1};
}
