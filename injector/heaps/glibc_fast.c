/* SPDX-License-Identifier: MIT */
/* glibc_fast.c - see glibc_fast.h. */
#include "glibc_fast.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "glibc_state.h"
#include "heap_bytes.h"
#include "steps.h"

#define TRIES 8u
#define STEPS_MAX (16u << 20)

struct lists {
	const struct heap_source *source;
	const struct glibc_arenas *arenas;
	struct glibc_fast *fast;
	struct steps steps;
};

static int add_fast(struct glibc_fast *fast, remote_addr chunk)
{
	if (fast->count == fast->room) {
		const size_t room = fast->room ? 2 * fast->room : 256;
		remote_addr *grown = realloc(fast->chunk, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		fast->chunk = grown;
		fast->room = room;
	}
	fast->chunk[fast->count++] = chunk;
	return 0;
}

/* glibc 2.32 and later mangle the link with its own place. */
static remote_addr next_fast(const struct glibc_arenas *arenas, remote_addr chunk, uint64_t link)
{
	const remote_addr clear = link ^ ((chunk + GLIBC_CHUNK_TO_BLOCK) >> 12);

	if (!arenas->minor)
		return glibc_arenas_region(arenas, clear) && clear % GLIBC_ALIGNMENT == 0 ? clear
											  : link;
	return arenas->minor >= 32 ? clear : link;
}

/* One chunk of a list. *out_next: 0 where the list ends, or makes no sense. */
static int take_fast(const struct lists *lists, remote_addr chunk, uint64_t size,
		     remote_addr *out_next)
{
	uint8_t byte[3 * GLIBC_WORD];
	struct heap_bytes head = {.byte = byte, .room = sizeof(byte)};
	int err = heap_bytes_read(&head, lists->source, chunk, sizeof(byte));

	*out_next = 0;
	if (err || !heap_bytes_has(&head, chunk, sizeof(byte)) ||
	    (glibc_word(byte + GLIBC_WORD) & ~(uint64_t)GLIBC_FLAGS) != size)
		return err;
	err = add_fast(lists->fast, chunk);
	*out_next = next_fast(lists->arenas, chunk, glibc_word(byte + 2 * GLIBC_WORD));
	return err;
}

/*
 * One list. It changes while it is read, and may be a ring then: a chunk that was met comes again
 * after as many as lie between two powers of two.
 */
static int add_fast_list(struct lists *lists, remote_addr chunk, uint64_t size)
{
	remote_addr met = 0;
	uint64_t count = 0, power = 1;
	int err = 0;

	while (!err && chunk != met && glibc_is_aligned(chunk) &&
	       glibc_arenas_region(lists->arenas, chunk) && steps_take(&lists->steps)) {
		if (clock_now_ns() >= lists->source->deadline_ns)
			return -ETIMEDOUT;
		if (++count == power) {
			met = chunk;
			power *= 2;
		}
		err = take_fast(lists, chunk, size, &chunk);
	}
	return err;
}

static int compare_addresses(const void *a, const void *b)
{
	const remote_addr left = *(const remote_addr *)a, right = *(const remote_addr *)b;

	return left < right ? -1 : left > right;
}

/* It changes while it is read. */
static int read_state(const struct lists *lists, remote_addr arena,
		      uint8_t state[GLIBC_STATE_BYTES], char refusal[HEAP_TEXT_MAX])
{
	int err = -EPROTO;

	for (unsigned i = 0; i < TRIES && err == -EPROTO; i++)
		err = glibc_state_read(lists->source, arena, state);
	if (err == -EPROTO)
		snprintf(refusal, HEAP_TEXT_MAX, "no arena at 0x%llx", (unsigned long long)arena);
	return err;
}

int glibc_fast_find(const struct heap_source *source, const struct glibc_arenas *arenas,
		    struct glibc_fast *out_fast, char out_refusal[HEAP_TEXT_MAX])
{
	struct lists lists = {source, arenas, out_fast, {STEPS_MAX}};
	uint8_t state[GLIBC_STATE_BYTES];
	int err = 0;

	*out_fast = (struct glibc_fast){0};
	for (uint32_t i = 0; i < arenas->count && !err; i++) {
		err = read_state(&lists, arenas->arena[i], state, out_refusal);
		for (unsigned list = 0; list < GLIBC_FAST_COUNT && !err; list++)
			err = add_fast_list(
				&lists, glibc_word(state + GLIBC_STATE_FAST + list * GLIBC_WORD),
				(list + 2) * GLIBC_ALIGNMENT);
	}
	if (out_fast->count)
		qsort(out_fast->chunk, out_fast->count, sizeof(*out_fast->chunk),
		      compare_addresses);
	return err;
}

void glibc_fast_close(struct glibc_fast *fast)
{
	free(fast->chunk);
	*fast = (struct glibc_fast){0};
}
