/* SPDX-License-Identifier: MIT */
/*
 * arena.c - see arena.h.
 *
 * The order matters for whoever finds us dead: the memfd carries a complete control block before its first mapping exists, and the first mapping covers the
 * whole arena by name, so that from then on /proc/PID/maps leads to everything.
 */
#include "arena.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"
#include "target_memfd.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3: the file cannot be executed, though it can be mapped as code; all that vm.memfd_noexec=2 allows */
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#define STACKS_STEPS 64 /* their part is allocated in so many steps, each when the last one is half full */

static int create_memfd(struct arena *arena, struct remote *remote)
{
	uint64_t fd;
	int err = memory_write(remote->memory, remote->scratch, HI_MEMFD_NAME, sizeof HI_MEMFD_NAME);
	if (err)
		return err;
	err = remote_syscall_or_fail(remote, SYS_memfd_create, (uint64_t[6]){remote->scratch, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL}, &fd);
	if (err == -EINVAL) /* kernels before 6.3 know no such flag */
		err = remote_syscall_or_fail(remote, SYS_memfd_create, (uint64_t[6]){remote->scratch, MFD_CLOEXEC | MFD_ALLOW_SEALING}, &fd);
	if (err)
		return err;
	arena->target_fd = (int)fd;

	return target_memfd_open(remote->tracee.pid, remote->tracee.tid, arena->target_fd, HI_MEMFD_NAME, &arena->memfd);
}

static int put(const struct arena *arena, const void *bytes, size_t size, uint64_t offset)
{
	const int err = fault_next("fill_memfd");
	if (err)
		return err;
	const ssize_t put = pwrite(arena->memfd, bytes, size, (off_t)offset);
	return put == (ssize_t)size ? 0 : put < 0 ? -errno : -EIO;
}

/* The functions that get a gate entry, in the order of the entries. */
static unsigned gate_functions(const struct payload_image *payload, const struct allocator *allocator, enum hi_function out_function[HI_GATE_ENTRIES])
{
	unsigned count = 0;
	for (unsigned function = 0; function < HI_FUNCTION_COUNT && count < HI_GATE_RESTORE; function++)
		if (allocator->original[function] && payload->hook[function])
			out_function[count++] = (enum hi_function)function;
	return count;
}

/* For good: nobody in the target may shrink it under our mapping, or its own, nor have done so before the seal. */
static int set_size(int memfd, off_t size)
{
	struct stat info;
	const int err = fault_next("seal_memfd");
	if (err)
		return err;
	if (ftruncate(memfd, size) || fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) || fstat(memfd, &info))
		return -errno;
	return info.st_size == size ? 0 : -EBUSY;
}

/* All code is in the file before the target maps it: nothing is ever written to a page that is executable there. */
static int fill_memfd(struct arena *arena, const struct hi_control *layout, const struct payload_image *payload, const struct allocator *allocator)
{
	int err = set_size(arena->memfd, (off_t)layout->arena_size);
	if (!err && layout->image.size)
		err = put(arena, payload->file + payload->text_offset, payload->text_size, layout->image.offset);
	enum hi_function function[HI_GATE_ENTRIES];
	const unsigned entries = gate_functions(payload, allocator, function);
	for (unsigned entry = 0; !err && entry < entries; entry++) {
		const enum gate_class class = gate_class_of(function[entry]);
		err = put(arena, payload->gate[class].code, payload->gate[class].size, layout->gate.offset + (uint64_t)entry * HI_GATE_STRIDE);
	}
	const uint64_t restore = layout->gate.offset + (uint64_t)HI_GATE_RESTORE * HI_GATE_STRIDE;
	if (!err)
		err = put(arena, payload->gate[GATE_RESTORE].code, payload->gate[GATE_RESTORE].size, restore);
	if (err)
		return err;
	arena->shared_size = layout->tables.offset + layout->tables.size;
	void *shared = mmap(NULL, arena->shared_size, PROT_READ | PROT_WRITE, MAP_SHARED, arena->memfd, 0);
	if (shared == MAP_FAILED)
		return -errno;
	arena->shared = shared;
	arena->ring = (struct hi_ring *)(void *)((uint8_t *)shared + layout->ring.offset); /* a page boundary */
	arena->ring_count = layout->ring_mask + 1;
	arena->ring_capacity = arena_ring_capacity(layout);
	arena->stacks = (struct hi_stacks *)(void *)((uint8_t *)shared + layout->stacks.offset);
	arena->stacks_size = layout->stacks.size;
	arena->stacks->used = sizeof(struct hi_stacks);
	arena->tables = (uint8_t *)shared + layout->tables.offset;
	arena->tables_size = layout->tables.size;
	arena->control = arena_control_new();
	if (!arena->control)
		return -ENOMEM;
	memcpy(arena->control, layout, offsetof(struct hi_control, counters));
	arena->control->gate_count = entries;
	memcpy(arena->shared, arena->control, offsetof(struct hi_control, counters));
	arena->control->magic = arena->shared->magic = HI_WIRE_MAGIC;
	for (uint32_t i = 0; i < arena->ring_count; i++) {
		struct hi_ring *ring = hi_ring_at(arena->ring, arena->ring_capacity, i);
		ring->capacity = arena->ring_capacity;
	}
	return 0;
}

static int map_fixed(struct remote *remote, uint64_t at, uint64_t size, int protection, int flags, int fd, uint64_t offset)
{
	return remote_syscall_or_fail(remote, SYS_mmap, (uint64_t[6]){at, size, (uint64_t)protection, (uint64_t)(flags | MAP_FIXED), (uint64_t)fd, offset},
				      NULL);
}

/* The words of every entry, disarmed, into the file: they hold addresses, so the base must be known, and the page not yet be mapped. */
static int fill_words(const struct arena *arena, const struct payload_image *payload, const struct allocator *allocator)
{
	const struct hi_control *control = arena->control;
	const struct arena_state_layout layout = arena_state_layout(control);
	const remote_addr state = arena_state(control);
	enum hi_function function[HI_GATE_ENTRIES];
	const unsigned entries = gate_functions(payload, allocator, function);
	int err = 0;
	for (unsigned entry = 0; !err && entry < entries; entry++) {
		const struct hi_gate_words words = {
			.original = allocator->original[function[entry]],
			.hook = allocator->original[function[entry]],
			.thread_slots = state + layout.thread_slots,
			.occupancy = state + layout.occupancy,
			.state = state,
			.nothrow = allocator->nothrow[function[entry]],
			.usable_size = allocator->usable_size[function[entry]],
			.occupancy_mask = (1u << control->occupancy_bits) - 1,
			.function = function[entry],
		};
		err = put(arena, &words, sizeof words, control->words.offset + (uint64_t)entry * HI_GATE_STRIDE);
	}
	return err;
}

static int map_parts(struct arena *arena, struct remote *remote, const struct payload_image *payload, const struct allocator *allocator)
{
	struct hi_control *control = arena->control;
	const int fd = arena->target_fd;
	uint64_t base;
	int err = remote_syscall_or_fail(remote, SYS_mmap,
					 (uint64_t[6]){0, control->arena_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, (uint64_t)fd, 0}, &base);
	if (err)
		return err;
	control->arena = arena->shared->arena = base;
	err = fill_words(arena, payload, allocator);
	if (err)
		return err;

	const struct hi_part *tables = &control->tables, *image = &control->image, *gate = &control->gate, *words = &control->words, *state = &control->state;
	err = remote_syscall_or_fail(remote, SYS_mprotect, (uint64_t[6]){base + tables->offset, tables->size, PROT_READ}, NULL);
	if (!err) /* image and gate lie side by side */
		err = map_fixed(remote, base + image->offset, image->size + gate->size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, image->offset);
	if (!err)
		err = map_fixed(remote, base + words->offset, words->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, words->offset);
	if (!err)
		err = map_fixed(remote, base + state->offset, state->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!err)
		err = remote_syscall_or_fail(remote, SYS_madvise,
					     (uint64_t[6]){base + state->offset + HI_PAGE_BYTES, state->size - HI_PAGE_BYTES, MADV_WIPEONFORK}, NULL);
	if (!err)
		err = remote_syscall_or_fail(remote, SYS_madvise, (uint64_t[6]){base, HI_PAGE_BYTES, MADV_DONTFORK}, NULL);
	return err;
}

/*
 * Since the file was made another thread may have put something else under its number: each call that mapped it is held against what we know to be in it.
 * Nothing has been written through the mappings yet.
 */
static int check_mapped(const struct arena *arena, const struct memory *memory)
{
	const struct hi_part parts[] = {{0, HI_PAGE_BYTES}, arena->control->gate, arena->control->words};
	uint8_t mapped[HI_GATE_BYTES], ours[HI_GATE_BYTES];
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		const size_t size = parts[i].size < sizeof ours ? parts[i].size : sizeof ours;
		if (pread(arena->memfd, ours, size, (off_t)parts[i].offset) != (ssize_t)size)
			return -EIO;
		if (memory_read(memory, arena->control->arena + parts[i].offset, mapped, size) || memcmp(mapped, ours, size) != 0)
			return -ESTALE;
	}
	return 0;
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

int arena_map(struct arena *arena, struct remote *remote, const struct hi_control *layout, const struct arena_code *code)
{
	*arena = (struct arena){.memfd = -1, .target_fd = -1};
	int err = create_memfd(arena, remote);
	if (!err)
		err = fill_memfd(arena, layout, code->payload, code->allocator);
	if (!err)
		err = map_parts(arena, remote, code->payload, code->allocator);
	if (!err)
		err = check_mapped(arena, remote->memory);
	int close_err = close_in_target(arena, remote);
	if (!err)
		err = close_err;
	if (!err)
		return 0;

	if (arena->control && arena->control->arena)
		(void)arena_unmap(arena->control, remote, code->payload, false);
	(void)close_in_target(arena, remote); /* a second try, where the first was what failed */
	arena_close(arena);
	return err == -EAGAIN ? -ENOMEM : err; /* mmap under mlockall: more than may be locked */
}

int arena_touch_ring(const struct arena *arena)
{
	const struct hi_part *ring = &arena->control->ring;
	const int err = fault_next("allocate_ring");
	if (err)
		return err;
	return fallocate(arena->memfd, 0, (off_t)ring->offset, (off_t)ring->size) ? -errno : 0;
}

/* A failure is no error: stacks that find no room are told with each sample. */
void arena_extend_stacks(struct arena *arena)
{
	const uint64_t step = arena->stacks_size / STACKS_STEPS, used = __atomic_load_n(&arena->stacks->used, __ATOMIC_RELAXED);
	const uint64_t limit = arena->stacks_limit;
	if (limit >= arena->stacks_size || (limit && used < limit - step / 2))
		return;
	if (fallocate(arena->memfd, 0, (off_t)(arena->control->stacks.offset + limit), (off_t)step))
		return;
	arena->stacks_limit = limit + step;
	__atomic_store_n(&arena->stacks->limit, arena->stacks_limit, __ATOMIC_RELEASE);
}

/*
 * Makes pages of bare jumps and moves them over the live gate. mremap swaps them under the kernel's mapping lock: a thread that arrives meanwhile waits in its
 * page fault and finds the new ones, so the gate is whole at any instant. They are never writable in the target, which may have forbidden itself to make code
 * of what it can write (PR_SET_MDWE).
 */
static int replace_gate(const struct hi_control *control, struct remote *remote, const struct payload_image *payload, remote_addr made_at)
{
	const int made_flags = MAP_PRIVATE | MAP_ANONYMOUS | (made_at ? MAP_FIXED : 0),
		  moved_flags = MREMAP_MAYMOVE | MREMAP_FIXED | (made_at ? MREMAP_DONTUNMAP : 0);
	uint64_t pages;
	int err = remote_syscall_or_fail(remote, SYS_mmap, (uint64_t[6]){made_at, HI_GATE_BYTES, PROT_READ | PROT_EXEC, (uint64_t)made_flags, (uint64_t)-1, 0},
					 &pages);
	for (unsigned entry = 0; !err && entry < arena_gate_count(control); entry++)
		err = memory_write(remote->memory, pages + (uint64_t)entry * HI_GATE_STRIDE, payload->gate[GATE_INERT].code, payload->gate[GATE_INERT].size);
	if (!err)
		err = remote_syscall_or_fail(remote, SYS_mremap, (uint64_t[6]){pages, HI_GATE_BYTES, HI_GATE_BYTES, (uint64_t)moved_flags, arena_gate(control)},
					     NULL);
	return err;
}

/*
 * The pages are made in the scratch, which nobody uses any more, and leave zeros there: until it is unmapped the arena has no hole that the target could fill,
 * and whoever comes after a dead injector finds all of it and may do this again.
 */
static int make_gate_inert(const struct hi_control *control, struct remote *remote, const struct payload_image *payload)
{
	int err = replace_gate(control, remote, payload, arena_state(control) + arena_state_layout(control).scratch);
	if (err == -EINVAL) /* Linux before 5.7: outside of the arena, where they stay if we are killed now */
		err = replace_gate(control, remote, payload, 0);
	return err;
}

int arena_unmap(const struct hi_control *control, struct remote *remote, const struct payload_image *payload, bool keep_gate)
{
	uint64_t size = control->arena_size;
	if (keep_gate) {
		const int err = make_gate_inert(control, remote, payload);
		if (err)
			return err;
		size = control->gate.offset;
	}
	return remote_syscall_or_fail(remote, SYS_munmap, (uint64_t[6]){control->arena, size}, NULL);
}

void arena_free_rings(const struct arena *arena)
{
	const struct hi_control *control = arena->control;
	if (arena->memfd >= 0 && control) /* a failure costs memory, and nothing else */
		(void)!fallocate(arena->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)control->ring.offset,
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
