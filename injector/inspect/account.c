/* SPDX-License-Identifier: MIT */
/* account.c - see account.h. */
#include "account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account_rest.h"
#include "arena.h"
#include "clock.h"
#include "hi_wire.h"
#include "inspected.h"
#include "memory_copy.h"
#include "plain_text.h"
#include "resident.h"
#include "runtimes.h"

/* What pieces of allocators have of a mapping. */
struct taken {
	uint64_t resident, swapped;
};

struct taker {
	struct account *account;
	struct smaps smaps;
	struct resident resident;
	struct taken *taken;            /* by mapping */
	size_t near;                    /* the mapping that was found last */
	remote_addr arena_lo, arena_hi; /* of a session */
};

uint64_t account_resident(const struct account *account)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ACCOUNT_PARTS; i++)
		sum += account->part[i].resident;
	return sum;
}

/* ---- allocators ------------------------------------------------------------------------------ */

/* Charges [lo, hi) to the mappings that it lies in. */
static void take_mappings(struct taker *taker, remote_addr lo, remote_addr hi,
			  const struct resident_bytes *bytes)
{
	const struct maps *maps = &taker->smaps.maps;
	const struct mapping *mapping = &maps->mapping[taker->near];

	if (lo < mapping->lo || lo >= mapping->hi) {
		mapping = maps_find(maps, lo);
		if (!mapping)
			return;
		taker->near = (size_t)(mapping - maps->mapping);
	}
	if (hi <= mapping->hi) {
		taker->taken[taker->near].resident += bytes->resident;
		taker->taken[taker->near].swapped += bytes->swapped;
		return;
	}
	/* it goes on in the next one */
	const struct resident_bytes here = resident_bytes(&taker->resident, lo, mapping->hi);
	const struct resident_bytes there = {.resident = bytes->resident - here.resident,
					     .swapped = bytes->swapped - here.swapped};

	taker->taken[taker->near].resident += here.resident;
	taker->taken[taker->near].swapped += here.swapped;
	lo = mapping->hi;
	take_mappings(taker, lo, hi, &there);
}

static void add(struct account_sum *sum, uint64_t size, const struct resident_bytes *bytes)
{
	sum->bytes += size;
	sum->resident += bytes->resident;
	sum->swapped += bytes->swapped;
	sum->huge += bytes->huge;
	sum->count++;
}

static int arena_of(struct account *account, uint32_t number, struct account_arena **out_arena)
{
	if (number >= account->arena_count) {
		struct account_arena *grown =
			realloc(account->arena, (number + 1) * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + account->arena_count, 0,
		       (number + 1 - account->arena_count) * sizeof(*grown));
		account->arena = grown;
		account->arena_count = number + 1;
	}
	*out_arena = &account->arena[number];
	return 0;
}

static int take_piece(void *context, const struct heap_piece *piece)
{
	static const enum account_part part[HEAP_KINDS] = {
		[HEAP_USED] = ACCOUNT_USED,     [HEAP_CACHED] = ACCOUNT_CACHED,
		[HEAP_FREE] = ACCOUNT_FREE,     [HEAP_METADATA] = ACCOUNT_METADATA,
		[HEAP_UNSURE] = ACCOUNT_UNSURE,
	};
	struct taker *taker = context;
	struct account *account = taker->account;
	const remote_addr lo = piece->address - piece->head_bytes,
			  hi = piece->address + piece->bytes;
	const struct resident_bytes head = resident_bytes(&taker->resident, lo, piece->address);
	const struct resident_bytes block = resident_bytes(&taker->resident, piece->address, hi);
	const struct resident_bytes whole = {.resident = head.resident + block.resident,
					     .swapped = head.swapped + block.swapped};
	struct account_arena *arena;
	const int err = arena_of(account, piece->arena, &arena);

	if (err)
		return err;
	if (piece->head_bytes || piece->tail_bytes)
		add(&account->part[ACCOUNT_HEADS], piece->head_bytes + piece->tail_bytes, &head);
	add(&account->part[part[piece->kind]], piece->bytes, &block);
	arena->used += piece->kind == HEAP_USED ? piece->bytes : 0;
	arena->free_resident += piece->kind == HEAP_FREE ? block.resident : 0;
	take_mappings(taker, lo, hi, &whole);
	return 0;
}

static int take_trimmable(void *context, remote_addr lo, remote_addr hi)
{
	struct taker *taker = context;

	taker->account->trimmable += resident_bytes(&taker->resident, lo, hi).resident;
	return 0;
}

static int take_heaps(struct taker *taker, const struct account_source *source)
{
	const struct heap_visitor visitor = {
		.piece = take_piece, .trimmable = take_trimmable, .context = taker};
	struct inspected inspected;
	int err = inspected_open(&inspected, source->memory, source->deadline_ns);

	if (!err)
		err = heaps_walk(&inspected.source, &visitor, &taker->account->heaps);
	if (err == -ETIMEDOUT)
		taker->account->is_partial = true;
	taker->account->runtimes =
		runtimes_find(&inspected.images, source->memory->pid, source->memory->tid);
	inspected_close(&inspected);
	/* not of this CPU: no reader knows it */
	return err == -ETIMEDOUT || err == -ENOEXEC ? 0 : err;
}

/* ---- huge pages ------------------------------------------------------------------------------ */

static bool is_zero(const struct memory *memory, remote_addr page, bool *out_is_zero)
{
	static const uint8_t zero[HI_PAGE_BYTES];
	uint8_t byte[HI_PAGE_BYTES];

	if (memory_read(memory, page, byte, sizeof(byte)))
		return false;
	*out_is_zero = !memcmp(byte, zero, sizeof(zero));
	return true;
}

/* Looks at pages of huge pages at equal distances. */
static void sample_huge(struct taker *taker, const struct memory *memory)
{
	const struct resident *resident = &taker->resident;
	uint64_t pages = 0, before = 0, next = 0;
	unsigned zeros = 0, sampled = 0;

	for (size_t i = 0; i < resident->count; i++)
		if (resident->run[i].is_huge && !resident->run[i].is_swapped)
			pages += (resident->run[i].hi - resident->run[i].lo) / HI_PAGE_BYTES;
	const uint64_t step = pages / ACCOUNT_SAMPLES + 1;
	for (size_t i = 0; i < resident->count; i++) {
		const struct page_run *run = &resident->run[i];
		const uint64_t count = (run->hi - run->lo) / HI_PAGE_BYTES;

		if (!run->is_huge || run->is_swapped)
			continue;
		for (; next < before + count; next += step) {
			const remote_addr page = run->lo + (next - before) * HI_PAGE_BYTES;
			bool zero;

			if (!is_zero(memory, page, &zero))
				continue;
			sampled++;
			zeros += zero;
		}
		before += count;
	}
	taker->account->huge_sampled = sampled;
	if (sampled)
		taker->account->huge_zero =
			(uint64_t)((double)pages * zeros / sampled) * HI_PAGE_BYTES;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static uint64_t without(uint64_t value, uint64_t taken)
{
	return value > taken ? value - taken : 0;
}

static const char *name_of(const char *path)
{
	const char *slash = *path == '/' ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* Keeps the largest. */
static void remember(struct account *account, const struct mapping *mapping, enum account_part part,
		     uint64_t resident)
{
	size_t at = account->mapping_count;

	if (at == ACCOUNT_MAPPINGS && account->mapping[at - 1].resident >= resident)
		return;
	at = at < ACCOUNT_MAPPINGS ? account->mapping_count++ : at - 1;
	for (; at && account->mapping[at - 1].resident < resident; at--)
		account->mapping[at] = account->mapping[at - 1];
	account->mapping[at] = (struct account_mapping){
		.part = part, .bytes = mapping->hi - mapping->lo, .resident = resident};
	plain_text_copy(account->mapping[at].name, sizeof(account->mapping[at].name),
			name_of(mapping->path));
}

static void take_rest_of(struct taker *taker, const struct account_rest *rest, size_t at)
{
	const struct mapping *mapping = &taker->smaps.maps.mapping[at];
	const struct smap *smap = &taker->smaps.of[at];
	struct account *account = taker->account;
	const struct resident_bytes private = {
		.resident = without(smap->anonymous, taker->taken[at].resident),
		.swapped = mapping->shared ? 0 : without(smap->swapped, taker->taken[at].swapped),
	};
	const struct resident_bytes file = {
		.resident = without(smap->resident, smap->anonymous),
		.swapped = mapping->shared ? smap->swapped : 0,
	};
	const uint64_t part_huge = smap->huge < private.resident ? smap->huge : private.resident;
	const bool is_ours = arena_has_mapping(mapping, taker->arena_lo, taker->arena_hi);
	const enum account_part file_part =
		is_ours ? ACCOUNT_SESSION : account_rest_file_part(rest, mapping);
	const enum account_part part =
		is_ours ? ACCOUNT_SESSION
			: account_rest_anonymous_part(rest, &taker->smaps.maps, at);
	const uint64_t bytes = mapping->hi - mapping->lo;

	account->resident += smap->resident;
	account->swapped += smap->swapped;
	account->huge += smap->huge;
	if (file.resident || file.swapped) {
		add(&account->part[file_part], bytes, &file);
		remember(account, mapping, file_part, file.resident);
	}
	if (private.resident || private.swapped) {
		add(&account->part[part], bytes, &private);
		account->part[part].huge += part_huge;
		if (part != ACCOUNT_STACKS)
			remember(account, mapping, part, private.resident);
	}
}

static int take_rest(struct taker *taker, const struct memory *memory)
{
	struct account_rest rest;
	const int err = account_rest_open(memory, &taker->smaps.maps, &rest);

	arena_range(&taker->smaps.maps, memory, &taker->arena_lo, &taker->arena_hi);
	for (size_t i = 0; i < taker->smaps.maps.count && !err; i++)
		take_rest_of(taker, &rest, i);
	taker->account->threads = rest.threads;
	account_rest_close(&rest);
	return err;
}

int account_take(const struct account_source *source, struct account *out_account)
{
	const struct memory *memory = source->memory;
	struct taker taker = {.account = out_account};

	*out_account = (struct account){.at_ns = clock_now_ns(),
					.held_times = memory->copy ? memory->copy->held_times : 0,
					.held_ns = memory->copy ? memory->copy->held_ns : 0};
	int err = smaps_of(memory, &taker.smaps);
	if (!err && !taker.smaps.maps.count)
		err = -ESRCH;
	if (!err) {
		taker.taken = calloc(taker.smaps.maps.count, sizeof(*taker.taken));
		err = taker.taken ? 0 : -ENOMEM;
	}
	if (!err)
		err = resident_read(memory, &taker.smaps.maps, &taker.resident);
	if (!err)
		err = take_heaps(&taker, source);
	if (!err)
		err = take_rest(&taker, memory);
	if (!err)
		sample_huge(&taker, memory);
	smaps_close(&taker.smaps);
	resident_close(&taker.resident);
	free(taker.taken);
	return err;
}

void account_close(struct account *account)
{
	free(account->arena);
	*account = (struct account){0};
}
