/* SPDX-License-Identifier: MIT */
/*
 * arena_unmap.c - removes the arena from the target, or all but an inert gate. It works from the
 * control block alone, as it has to after the death of the injector that mapped the arena.
 */
#include "arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "hi_page.h"
#include "kernel_flags.h"

/*
 * Makes pages of bare jumps and moves them over the live gate. mremap replaces the gate under the
 * kernel's mapping lock: a thread that arrives meanwhile waits in its page fault and finds the new
 * pages, so the gate is whole at any instant. The pages are never writable in the target, which may
 * have forbidden itself to make code of what it can write (PR_SET_MDWE).
 */
static int replace_gate(const struct hi_control *control, struct remote *remote,
			const struct payload_image *payload, remote_addr made_at)
{
	const int made_flags = MAP_PRIVATE | MAP_ANONYMOUS | (made_at ? MAP_FIXED : 0),
		  moved_flags = MREMAP_MAYMOVE | MREMAP_FIXED | (made_at ? MREMAP_DONTUNMAP : 0);
	uint64_t pages;
	int err =
		remote_syscall_or_fail(remote, SYS_mmap,
				       (uint64_t[6]){made_at, HI_GATE_BYTES, PROT_READ | PROT_EXEC,
						     (uint64_t)made_flags, (uint64_t)-1, 0},
				       &pages);
	for (unsigned entry = 0; !err && entry < arena_gate_count(control); entry++)
		err = memory_write(remote->memory, pages + (uint64_t)entry * HI_GATE_STRIDE,
				   payload->gate[GATE_INERT].code, payload->gate[GATE_INERT].size);
	if (!err)
		err = remote_syscall_or_fail(remote, SYS_mremap,
					     (uint64_t[6]){pages, HI_GATE_BYTES, HI_GATE_BYTES,
							   (uint64_t)moved_flags,
							   arena_gate(control)},
					     NULL);
	return err;
}

/*
 * The pages are made in the scratch part, which no thread uses any more, and leave zeros there. So
 * until it is unmapped, the arena has no hole that the target could fill, and if this injector dies
 * a later one finds all of it and may repeat this.
 */
static int make_gate_inert(const struct hi_control *control, struct remote *remote,
			   const struct payload_image *payload)
{
	int err = replace_gate(control, remote, payload,
			       arena_state(control) + arena_state_layout(control).scratch);
	/*
	 * Linux before 5.7: make the pages outside of the arena, where they stay if we are killed
	 * now
	 */
	if (err == -EINVAL)
		err = replace_gate(control, remote, payload, 0);
	return err;
}

/*
 * Is the mapping at the address of a near page this page of our file? Otherwise it is not ours. Two
 * of them side by side may be one mapping.
 */
static bool is_near_page(const struct hi_control *control, const struct maps *maps, unsigned number)
{
	const struct mapping *mapping =
		control->near_page[number] ? maps_find(maps, control->near_page[number]) : NULL;
	return mapping && !strcmp(mapping->path, "/memfd:" HI_MEMFD_NAME) &&
	       mapping->file_offset + (control->near_page[number] - mapping->lo) ==
		       control->near.offset + (uint64_t)number * hi_page_bytes();
}

static int unmap_near_pages(const struct hi_control *control, struct remote *remote)
{
	struct maps maps = {0};
	int err = 0;
	if (!control->near_page[0])
		return 0;
	err = maps_read(remote->tracee.pid, remote->tracee.tid, &maps);
	for (unsigned number = 0; number < HI_NEAR_PAGES_MAX && !err; number++)
		if (is_near_page(control, &maps, number))
			err = remote_syscall_or_fail(
				remote, SYS_munmap,
				(uint64_t[6]){control->near_page[number], hi_page_bytes()}, NULL);
	maps_close(&maps);
	return err;
}

int arena_unmap(const struct hi_control *control, struct remote *remote,
		const struct payload_image *payload, bool keep_gate)
{
	uint64_t size = control->arena_size;
	const int near_pages = unmap_near_pages(control, remote);
	if (near_pages)
		return near_pages;
	if (keep_gate) {
		const int err = make_gate_inert(control, remote, payload);
		if (err)
			return err;
		size = control->gate.offset;
	}
	return remote_syscall_or_fail(remote, SYS_munmap, (uint64_t[6]){control->arena, size},
				      NULL);
}
