/* SPDX-License-Identifier: MIT */
/* census.c - see census.h. */
#include "census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "heap_bytes.h"

#define WINDOW_BYTES (512u << 10)
#define SLOTS_MIN 4096u

/* ---- groups ---------------------------------------------------------------------------------- */

static bool is_same(const struct census_group *left, const struct census_group *right)
{
	return left->kind == right->kind && left->type == right->type && left->size == right->size;
}

static uint64_t hash_of(const struct census_group *group)
{
	const uint64_t key =
		group->size * CONTENT_KINDS + group->kind + ((uint64_t)group->type << 40);

	return (key * 0x9e3779b97f4a7c15ull) >> 24;
}

static uint32_t *slot_of(const struct census *census, const struct census_group *group)
{
	uint64_t at = hash_of(group);

	for (;; at++) {
		uint32_t *slot = &census->slot[at & (census->slots - 1)];

		if (!*slot || is_same(&census->group[*slot - 1], group))
			return slot;
	}
}

static int make_room(struct census *census)
{
	if (census->count == census->room) {
		const size_t room = census->room ? 2 * census->room : SLOTS_MIN / 2;
		struct census_group *grown = realloc(census->group, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		census->group = grown;
		census->room = room;
	}
	if (2 * census->count < census->slots)
		return 0;
	const size_t slots = census->slots ? 2 * census->slots : SLOTS_MIN;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	free(census->slot);
	census->slot = slot;
	census->slots = slots;
	for (size_t i = 0; i < census->count; i++)
		*slot_of(census, &census->group[i]) = (uint32_t)i + 1;
	return 0;
}

const struct census_group *census_find(const struct census *census,
				       const struct census_group *group)
{
	const uint32_t slot = census->slots ? *slot_of(census, group) : 0;

	return slot ? &census->group[slot - 1] : NULL;
}

int census_intern(struct census *census, const struct census_group *group, uint32_t *out_index)
{
	struct census_group added = *group;
	const int err = make_room(census);

	if (err)
		return err;
	uint32_t *slot = slot_of(census, &added);
	if (!*slot && census->count >= CENSUS_GROUPS_MAX) {
		census->is_crowded = true;
		added.size = 0;
		slot = slot_of(census, &added);
	}
	if (!*slot) {
		census->group[census->count] = added;
		*slot = (uint32_t)++census->count;
	}
	*out_index = *slot - 1;
	return 0;
}

/* One block, as its content says. */
struct counted {
	const struct mark_block *block;
	struct content content;
	const uint8_t *byte; /* its first ones */
	size_t known;
	struct census_more more;
};

static int count_block(struct census *census, const struct counted *counted, uint32_t *out_group)
{
	const struct mark_block *block = counted->block;
	const struct census_group key = {
		.kind = counted->content.kind,
		.type = counted->content.type,
		.size = counted->content.kind == CONTENT_OBJECT ? 0 : block->bytes,
		.sample = block->address,
	};
	uint32_t index;
	const int err = census_intern(census, &key, &index);

	if (err)
		return err;
	struct census_group *group = &census->group[index];

	if (!group->count && key.kind == CONTENT_TEXT)
		memcpy(group->text, counted->byte,
		       counted->known < sizeof(group->text) ? counted->known : sizeof(group->text));
	if (out_group)
		*out_group = index;
	group->count++;
	group->bytes += block->bytes;
	group->more_count += counted->more.count;
	group->more_bytes += counted->more.bytes;
	census->block_count++;
	census->bytes += block->bytes;
	return 0;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Bytes from `at` on, up to `size`: how many are there. */
static int read_block(const struct heap_source *source, struct heap_bytes *bytes, remote_addr at,
		      size_t size, size_t *out_known)
{
	int err = 0;

	/* what lies behind a page that is not known may be known */
	const bool is_behind = at >= bytes->known_hi && at != bytes->lo;

	if (at < bytes->lo || at + size > bytes->lo + bytes->size || is_behind)
		err = heap_bytes_read(bytes, source, at, WINDOW_BYTES);
	*out_known = err || bytes->known_hi <= at  ? 0
		     : bytes->known_hi - at < size ? bytes->known_hi - at
						   : size;
	return err;
}

int census_take(const struct heap_source *source, const struct census_of *of,
		struct content_reader *reader, struct census *out_census)
{
	struct heap_bytes bytes = {0};
	int err = 0;

	*out_census = (struct census){.at_ns = clock_now_ns()};
	for (size_t i = 0; i < of->count && !err; i++) {
		const struct mark_block *block = &of->block[i];
		const size_t size = block->bytes < CONTENT_BYTES ? block->bytes : CONTENT_BYTES;
		struct counted counted = {.block = block, .content = {CONTENT_UNKNOWN, TYPE_NONE}};

		if (of->more)
			counted.more = of->more[i];
		err = read_block(source, &bytes, block->address, size, &counted.known);
		if (counted.known) {
			counted.byte = bytes.byte + (block->address - bytes.lo);
			counted.content = content_of(reader, counted.byte, counted.known);
		}
		if (!err)
			err = count_block(out_census, &counted, of->group ? &of->group[i] : NULL);
	}
	heap_bytes_close(&bytes);
	return err;
}

void census_close(struct census *census)
{
	free(census->group);
	free(census->slot);
	*census = (struct census){0};
}
