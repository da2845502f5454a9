/* SPDX-License-Identifier: MIT */
/* code_swap.c - see code_swap.h. */
#include "code_swap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "elf_segment.h"
#include "kernel_flags.h"

#define WORD 8u

int code_swap_add(struct hi_control *control, remote_addr lo, remote_addr hi)
{
	uint64_t staged = 0;
	for (unsigned i = 0; i < HI_CODE_RANGES_MAX; i++) {
		if (control->code[i].size) {
			staged += control->code[i].size;
			continue;
		}
		if (hi - lo > HI_CODE_BYTES_MAX - staged)
			return -ENOSPC;
		control->code[i].lo = lo;
		control->code[i].size = hi - lo;
		return 0;
	}
	return -ENOSPC;
}

remote_addr code_swap_staged(const struct hi_control *control, remote_addr at)
{
	remote_addr stage = control->arena + control->stage.offset;
	for (unsigned i = 0; i < HI_CODE_RANGES_MAX; i++) {
		if (at - control->code[i].lo < control->code[i].size)
			return stage + (at - control->code[i].lo);
		stage += control->code[i].size;
	}
	return 0;
}

bool code_swap_covers(const struct hi_control *control, remote_addr at, size_t size)
{
	for (unsigned i = 0; i < HI_CODE_RANGES_MAX; i++)
		if (at - control->code[i].lo < control->code[i].size &&
		    control->code[i].size - (at - control->code[i].lo) >= size)
			return true;
	return false;
}

static int move(struct remote *remote, remote_addr from, uint64_t size, remote_addr to)
{
	return remote_syscall_or_fail(
		remote, SYS_mremap,
		(uint64_t[6]){from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
			      to},
		NULL);
}

int code_swap_stage(const struct hi_control *control, struct remote *remote)
{
	int err = 0;
	for (unsigned i = 0; i < HI_CODE_RANGES_MAX && control->code[i].size && !err; i++)
		err = move(remote, control->code[i].lo, control->code[i].size,
			   code_swap_staged(control, control->code[i].lo));
	return err;
}

/*
 * Moving leaves the stage mapped, so the arena never has a hole that the target could fill.
 * Anonymous memory replaces it, so that no program takes it for an object of the target.
 */
static int empty_stage(const struct hi_control *control, struct remote *remote, uint64_t size)
{
	return remote_syscall_or_fail(
		remote, SYS_mmap,
		(uint64_t[6]){control->arena + control->stage.offset, size, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, (uint64_t)-1,
			      0},
		NULL);
}

int code_swap_in(const struct hi_control *control, struct remote *remote)
{
	int err = 0;
	uint64_t staged = 0;
	for (unsigned i = 0; i < HI_CODE_RANGES_MAX && control->code[i].size && !err; i++) {
		err = move(remote, code_swap_staged(control, control->code[i].lo),
			   control->code[i].size, control->code[i].lo);
		staged += control->code[i].size;
	}
	if (!err && staged)
		err = empty_stage(control, remote, staged);
	return err;
}

/*
 * Examines one page, or a piece of it. known: how many of its bytes the file has. 0: it cannot be
 * read any more. Then only the words of the journal are checked.
 */
static enum code_state look_at(const struct hi_control *control, const uint8_t *now,
			       const uint8_t *file, size_t known, remote_addr at)
{
	enum code_state state = CODE_ORIGINAL;
	for (size_t i = 0; i < HI_PAGE_BYTES; i += WORD) {
		uint64_t is, was, old_value, new_value;
		memcpy(&is, now + i, WORD);
		was = is;
		if (i < known)
			memcpy(&was, file + i, known - i < WORD ? known - i : WORD);
		if (known && is == was)
			continue;
		if (!journal_code_at(control, at + i, &old_value, &new_value)) {
			if (known)
				return CODE_FOREIGN;
		} else if (is == old_value) {
			/* the new value may be the same: a jump that has the bytes of the code */
			continue;
		} else if (is == new_value) {
			state = CODE_CHANGED;
		} else {
			return CODE_FOREIGN;
		}
	}
	return state;
}

enum code_state code_swap_look(const struct hi_control *control, const struct memory *memory,
			       const struct elf_images *images)
{
	enum code_state all = CODE_ORIGINAL;
	for (unsigned i = 0; i < HI_CODE_RANGES_MAX && control->code[i].size; i++) {
		const struct elf_image *image = elf_images_find(images, control->code[i].lo);
		for (uint64_t done = 0; done < control->code[i].size; done += HI_PAGE_BYTES) {
			const remote_addr at = control->code[i].lo + done;
			uint8_t now[HI_PAGE_BYTES];
			const void *file = NULL;
			if (!image || memory_read(memory, at, now, sizeof(now)))
				return CODE_FOREIGN;
			const size_t known =
				image->memory_copy
					? 0
					: elf_segment_piece(image->elf, at - image->bias, &file);
			const enum code_state state = look_at(control, now, file, known, at);
			all = state > all ? state : all;
		}
	}
	return all;
}

/* ---- undo ------------------------------------------------------------------------------------ */

/* Is the range a mapping of its own, though it could be one with what is beside it? */
static bool is_apart(const struct maps *maps, remote_addr lo, uint64_t size)
{
	const struct mapping *own = maps_find(maps, lo);

	if (!own || own->lo != lo || own->hi != lo + size)
		return false;
	return (own > maps->mapping && mapping_continues(own - 1, own)) ||
	       (own + 1 < maps->mapping + maps->count && mapping_continues(own, own + 1));
}

bool code_swap_is_apart(const struct hi_control *control, const struct maps *maps)
{
	for (unsigned i = 0; i < HI_CODE_RANGES_MAX && control->code[i].size; i++)
		if (is_apart(maps, control->code[i].lo, control->code[i].size))
			return true;
	return false;
}

/*
 * A mapping that has had private pages is not joined with its neighbours by older kernels. Moving
 * it away leaves one that never had any, and moving that away and back joins it.
 */
static int join(const struct hi_control *control, struct remote *remote, remote_addr lo,
		uint64_t size)
{
	const remote_addr stage = control->arena + control->stage.offset;
	int err = move(remote, lo, size, stage);

	if (!err)
		err = move(remote, lo, size, stage);
	if (!err)
		err = move(remote, stage, size, lo);
	return err ? err : empty_stage(control, remote, size);
}

int code_swap_undo(const struct hi_control *control, const struct maps *maps, struct remote *remote)
{
	int err = 0;
	for (unsigned i = 0; i < HI_CODE_RANGES_MAX && control->code[i].size && !err; i++) {
		const remote_addr lo = control->code[i].lo;
		const uint64_t size = control->code[i].size;

		err = remote_syscall_or_fail(remote, SYS_madvise,
					     (uint64_t[6]){lo, size, MADV_DONTNEED}, NULL);
		if (err == -EINVAL) /* the target has locked it in memory meanwhile */
			err = remote_syscall_or_fail(remote, SYS_madvise,
						     (uint64_t[6]){lo, size, MADV_DONTNEED_LOCKED},
						     NULL);
		else if (!err && is_apart(maps, lo, size))
			err = join(control, remote, lo, size);
	}
	return err;
}
