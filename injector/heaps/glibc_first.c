/* SPDX-License-Identifier: MIT */
/* glibc_first.c - see glibc_first.h. struct malloc_par is in malloc/malloc.c of glibc. */
#include "glibc_first.h"

#include <errno.h>

#include "elf_segment.h"
#include "glibc_state.h"
#include "hi_page.h"

/* struct malloc_par: words of the initial values, by which it is found */
#define PAR_CACHE_BINS 64u
#define PAR_CACHE_BYTES 1032u
#define PAR_TO_SBRK_BASE (-1)
#define PAR_TO_MAPPED_BYTES (-3)
#define PAR_TO_MAPPED_MOST (-5)  /* before glibc 2.35 its upper half, after n_mmaps */
#define PAR_TO_MAPPED_COUNT (-6) /* its upper half */
#define PAR_MAPPED_MOST 65536u

/* of writable segments of a program, to look for the arena in */
#define DATA_BYTES_MAX (64u << 20)

/* Looks for the first arena in a segment. 0: it is not there. */
static remote_addr find_in(const struct heap_bytes *data)
{
	const remote_addr hi = data->known_hi;

	for (remote_addr at = data->lo; at + GLIBC_BIN_BYTES <= hi; at += GLIBC_WORD) {
		const uint64_t self = at - GLIBC_BIN_TO_CHUNK;

		if (heap_bytes_word(data, at) != self ||
		    heap_bytes_word(data, at + GLIBC_WORD) != self)
			continue;
		/* an empty list; which of them is it? */
		for (unsigned i = 0; i < GLIBC_BIN_COUNT; i++) {
			const remote_addr arena = at - GLIBC_STATE_BINS - i * GLIBC_BIN_BYTES;

			if (heap_bytes_has(data, arena, GLIBC_STATE_BYTES) &&
			    glibc_state_is(data->byte + (arena - data->lo), arena))
				return arena;
		}
	}
	return 0;
}

int glibc_first_find(const struct heap_source *source, const struct elf_image *image,
		     struct heap_bytes *data, remote_addr *out_arena)
{
	uint64_t room = DATA_BYTES_MAX;
	GElf_Phdr segment;
	size_t at = 0;
	int err = 0;

	*out_arena = 0;
	while (!err && !*out_arena && elf_segment_next(image->elf, PT_LOAD, &at, &segment)) {
		const remote_addr lo = (image->bias + segment.p_vaddr) & ~(GLIBC_WORD - 1ull);

		/* what it looks for has initial values, and so is at the segment's begin */
		const uint64_t size = segment.p_memsz < room ? segment.p_memsz : room;

		if (!(segment.p_flags & PF_W) || !size)
			continue;
		room -= size;
		err = heap_bytes_read(data, source, lo, size);
		if (!err)
			*out_arena = find_in(data);
	}
	return err ? err : *out_arena ? 0 : -ENOENT;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint64_t par_word(const uint8_t *par, int word)
{
	return glibc_word(par + word * (int)GLIBC_WORD);
}

/* How many blocks have a mapping of their own. */
static uint64_t mapped_count(const uint8_t *par)
{
	const uint64_t most = par_word(par, PAR_TO_MAPPED_MOST);

	if (most >> 32 == PAR_MAPPED_MOST)
		return (uint32_t)most;
	if ((uint32_t)most == PAR_MAPPED_MOST)
		return par_word(par, PAR_TO_MAPPED_COUNT) >> 32;
	return UINT64_MAX;
}

/*
 * There may be other words like those of malloc_par. The last one that can be it is it.
 */
struct glibc_numbers glibc_numbers_find(const struct heap_bytes *data, remote_addr heap_lo,
					remote_addr top)
{
	struct glibc_numbers numbers = {.mapped_count = UINT64_MAX};

	for (remote_addr at = data->lo + 8 * GLIBC_WORD; heap_bytes_has(data, at, 2 * GLIBC_WORD);
	     at += GLIBC_WORD) {
		const uint8_t *par = data->byte + (at - data->lo);
		const uint64_t base = par_word(par, PAR_TO_SBRK_BASE);

		if (par_word(par, 0) != PAR_CACHE_BINS || par_word(par, 1) != PAR_CACHE_BYTES)
			continue;
		if ((base && (base < heap_lo || base > top)) ||
		    par_word(par, PAR_TO_MAPPED_BYTES) % hi_page_bytes())
			continue;
		numbers = (struct glibc_numbers){base, mapped_count(par)};
	}
	return numbers;
}
