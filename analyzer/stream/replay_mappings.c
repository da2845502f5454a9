/* SPDX-License-Identifier: MIT */
/*
 * replay_mappings.c - the records of address space: which mappings were made on which stack, and
 * what of them is still mapped.
 *
 * Whatever is mapped takes the place of what was there, so a mapping that went unseen, by a system
 * call of the program's own, is forgotten when its addresses are used again, or at the next list of
 * all mappings.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mapping_rows.h"
#include "replay_state.h"
#include "row_history.h"

/* of the kernel's ABI */
#define SHARED 1u /* MAP_SHARED and MAP_SHARED_VALIDATE have it, MAP_PRIVATE has not */
#define ANONYMOUS 0x20u

struct accounting {
	struct profile *profile;
	uint64_t time_ns;
};

static void gone(void *context, const struct mapping_part *part)
{
	const struct accounting *accounting = context;
	struct profile_row *row = &accounting->profile->mapping[part->row];

	row->inuse_bytes -= part->bytes;
	if (!part->is_last)
		return;
	row_history_died(accounting->profile, row, part->born_ns, accounting->time_ns);
	row->inuse_count--;
	row->inuse_ns -= (double)part->born_ns;
	row->freed_count++;
	if (accounting->time_ns > part->born_ns)
		row->freed_ns += (double)(accounting->time_ns - part->born_ns);
}

static void come_back(void *context, const struct mapping_part *part)
{
	const struct accounting *accounting = context;
	struct profile_row *row = &accounting->profile->mapping[part->row];

	row->inuse_bytes += part->bytes;
	if (!part->is_last) /* something of it stayed */
		return;
	row_history_came_back(accounting->profile, row, part->born_ns, accounting->time_ns);
	row_history_lives(accounting->profile, row, part->born_ns);
	row->inuse_count++;
	row->inuse_ns += (double)part->born_ns;
	row->freed_count--;
	if (accounting->time_ns > part->born_ns)
		row->freed_ns -= (double)(accounting->time_ns - part->born_ns);
}

static bool is_range(uint64_t address, uint64_t bytes)
{
	return bytes && address < ADDRESS_END && bytes <= BLOCK_BYTES_MAX &&
	       address % HI_PAGE_BYTES == 0 && bytes % HI_PAGE_BYTES == 0;
}

static int settle(struct replay *replay, int err)
{
	if (err != -E2BIG)
		return err;
	replay_bad(replay, "more mappings than a process can have");
	return 0;
}

static const char *content_of(const struct hi_stream_alloc *mapped)
{
	const uint32_t flags = mapped->slack >> HI_MAPPING_FLAGS_SHIFT & HI_MAPPING_FLAGS_MASK;

	if (mapped->slack & HI_MAPPING_BY_BRK)
		return MAPPING_BRK;
	if (mapped->function == HI_FN_MREMAP)
		return MAPPING_REMAPPED;
	if (!(mapped->slack & HI_MAPPING_PROTECTION))
		return MAPPING_RESERVED;
	if (!(flags & ANONYMOUS))
		return MAPPING_FILE;
	return flags & SHARED ? MAPPING_SHARED : MAPPING_ANONYMOUS;
}

/* A mapping comes, on this stack. */
static int add(struct replay *replay, const struct hi_stream_alloc *mapped, uint32_t stack)
{
	struct profile *profile = replay->profile;
	const uint64_t time_ns = replay_since(replay, mapped->time_ns);
	struct accounting accounting = {profile, time_ns};
	struct label label = {.key = MAPPING_LABEL, .text = content_of(mapped)};
	struct profile_row_key key = {.stack = stack,
				      .size_class = profile_size_class(mapped->bytes),
				      .interval = mapped->interval};
	const uint64_t lo = mapped->address, hi = lo + mapped->bytes;
	uint32_t index;

	if (labels_add(&profile->labels, &label, 1, &key.labels) ||
	    profile_mapping_at(profile, &key, &index))
		return -ENOMEM;
	int err = mapping_pieces_cut(&profile->pieces, lo, hi, gone, &accounting);
	if (!err)
		err = mapping_pieces_add(&profile->pieces, lo, hi, index, time_ns);
	if (err)
		return settle(replay, err);
	struct profile_row *row = &profile->mapping[index];
	row_history_allocated(profile, row, time_ns);
	row->first_ns = row->alloc_count ? row->first_ns : time_ns;
	row->last_ns = time_ns;
	row->alloc_count++;
	row->alloc_bytes += mapped->bytes;
	row_history_lives(profile, row, time_ns);
	row->inuse_count++;
	row->inuse_bytes += mapped->bytes;
	row->inuse_ns += (double)time_ns;
	return 0;
}

int replay_on_mapped(struct replay *replay, const struct hi_stream_alloc *mapped)
{
	uint32_t stack;
	uint16_t end;

	if (!is_range(mapped->address, mapped->bytes) || mapped->interval == 0 ||
	    mapped->interval > INTERVAL_MAX) {
		replay_bad(replay, "a mapping that cannot be");
		return 0;
	}
	replay->profile->has_mappings = true;
	const int err = replay_stack_of(replay, mapped, &stack, &end);

	return err ? err : add(replay, mapped, stack);
}

/* It has no stack: one frame says what is known. Each was recorded. */
static int on_mapped_in_a_call(struct replay *replay, const struct hi_stream_mapping *mapping,
			       char *name)
{
	struct profile *profile = replay->profile;
	const struct hi_stream_alloc mapped = {.time_ns = mapping->time_ns,
					       .address = mapping->address,
					       .bytes = mapping->bytes,
					       .function = HI_FN_MMAP,
					       .slack = mapping->attributes,
					       .interval = HI_INTERVAL_EXACT};
	const struct profile_line line = {.function = name, .system_name = name};
	uint32_t frame, stack;

	if (profile_frame_named(profile, &line, 1, &frame) ||
	    profile_stack_of(profile, &frame, 1, HI_END_COMPLETE, &stack))
		return -ENOMEM;
	return add(replay, &mapped, stack);
}

int replay_on_mapping(struct replay *replay, const struct hi_stream_mapping *mapping)
{
	struct mapping_pieces *pieces = &replay->profile->pieces;
	struct accounting accounting = {replay->profile, replay_since(replay, mapping->time_ns)};
	char allocator[] = MAPPING_BY_ALLOCATOR, nested[] = MAPPING_BY_UNKNOWN;
	const uint64_t lo = mapping->address, hi = lo + mapping->bytes;

	replay->profile->has_mappings = true;
	if (!is_range(mapping->address, mapping->bytes))
		return 0; /* a call that failed, or none: mappings are asked for */
	switch (mapping->record.flags) {
	case HI_MAPPING_GONE:
		return settle(replay, mapping_pieces_take_off(pieces, mapping->thread, lo, hi, gone,
							      &accounting));
	case HI_MAPPING_KEPT:
		return settle(replay, mapping_pieces_put_back(pieces, mapping->thread, lo,
							      come_back, &accounting));
	case HI_MAPPING_UNSAMPLED:
		return settle(replay, mapping_pieces_cut(pieces, lo, hi, gone, &accounting));
	case HI_MAPPING_ALLOCATOR:
		return on_mapped_in_a_call(replay, mapping, allocator);
	case HI_MAPPING_NESTED:
		return on_mapped_in_a_call(replay, mapping, nested);
	default:
		return 0; /* what later versions may add */
	}
}

/* ---- the list of all mappings ---------------------------------------------------------------- */

/* Cuts [lo, hi), but for mappings that are younger than the list. */
static int cut_old(struct replay *replay, uint64_t lo, uint64_t hi, uint64_t time_ns)
{
	struct mapping_pieces *pieces = &replay->profile->pieces;
	struct accounting accounting = {replay->profile, time_ns};
	int err = 0;

	for (size_t i = pieces->count; i-- && !err;) {
		const struct mapping_piece piece = pieces->piece[i];
		const uint64_t from = piece.lo > lo ? piece.lo : lo,
			       to = piece.hi < hi ? piece.hi : hi;

		if (from < to && pieces->mapping[piece.mapping].born_ns < time_ns)
			err = mapping_pieces_cut(pieces, from, to, gone, &accounting);
	}
	return err;
}

/* The lines are in the order of their addresses. */
int replay_mappings_settle(struct replay *replay, uint64_t time_ns)
{
	const char *line = replay->profile->meta.maps;
	uint64_t end = 0, lo, hi;
	int err = 0;

	while (replay->profile->pieces.count && line && !err &&
	       sscanf(line, "%" SCNx64 "-%" SCNx64, &lo, &hi) == 2 && lo >= end && hi > lo) {
		if (lo > end)
			err = cut_old(replay, end, lo, time_ns);
		end = hi;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return settle(replay, err);
}
