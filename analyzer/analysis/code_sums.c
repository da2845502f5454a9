/* SPDX-License-Identifier: MIT */
/*
 * code_sums.c - see code_sums.h.
 *
 * First the sites are collected and sorted. Then the blocks around them are found. Then the stacks
 * are summed up by site and by block. Start at code_sums_open().
 */
#include "code_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_SITE UINT32_MAX

struct summing {
	const struct profile *profile;
	const struct functions *functions;
	const struct code_wish *wish;
	struct code_sums sums;
	uint32_t *site_round, *block_round; /* by site, by block: the last row counted, from 1 */
};

/* ---- sites ----------------------------------------------------------------------------------- */

static bool is_wanted(const struct summing *summing, size_t frame, bool with_inlined)
{
	const struct functions *functions = summing->functions;
	const uint32_t first = functions->first[frame], end = functions->first[frame + 1];

	for (uint32_t call = with_inlined ? first : end - 1; call < end; call++) {
		if (summing->wish->function[functions->call[call].function])
			return true;
	}
	return false;
}

/* The first module of the same object. A file may be mapped in several pieces, each a module. */
static int32_t object_of(const struct profile *profile, int32_t module)
{
	if (module < 0 || module >= (int64_t)profile->module_count)
		return -1;
	const uint32_t number = profile->module[module].number;
	for (int32_t i = 0; i < module && number; i++) {
		if (profile->module[i].number == number)
			return i;
	}
	return module;
}

static struct code_site site_at(const struct summing *summing, size_t index)
{
	const struct profile_frame *frame = &summing->profile->frame[index];
	const int32_t object = object_of(summing->profile, frame->module);
	const uint64_t bias = object < 0 ? 0 : summing->profile->module[frame->module].bias;

	return (struct code_site){
		.module = object,
		.address = frame->address - 1 - bias,
		.function = summing->functions->call[summing->functions->first[index + 1] - 1]
				    .function};
}

static int compare_sites(const void *left, const void *right)
{
	const struct code_site *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static int collect_sites(struct summing *summing, bool with_inlined)
{
	const size_t frames = summing->profile->frame_count;
	struct code_sums *sums = &summing->sums;
	size_t kept = 0;

	sums->site = malloc((frames + 1) * sizeof(*sums->site));
	sums->site_of = malloc((frames + 1) * sizeof(*sums->site_of));
	if (!sums->site || !sums->site_of)
		return -ENOMEM;
	for (size_t i = 0; i < frames; i++) {
		if (is_wanted(summing, i, with_inlined))
			sums->site[sums->site_count++] = site_at(summing, i);
	}
	qsort(sums->site, sums->site_count, sizeof(*sums->site), compare_sites);
	for (size_t i = 0; i < sums->site_count; i++) {
		if (kept == 0 || compare_sites(&sums->site[i], &sums->site[kept - 1]))
			sums->site[kept++] = sums->site[i];
	}
	sums->site_count = kept;
	for (size_t i = 0; i < frames; i++) {
		sums->site_of[i] = NO_SITE;
		if (!is_wanted(summing, i, with_inlined))
			continue;
		const struct code_site site = site_at(summing, i);
		const struct code_site *found =
			bsearch(&site, sums->site, kept, sizeof(site), compare_sites);
		sums->site_of[i] = (uint32_t)(found - sums->site);
	}
	return 0;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Opens the module's file on the first call. *out_code is NULL if there is no file. */
static int code_of(struct summing *summing, int32_t module, const struct machine_code **out_code)
{
	struct code_sums *sums = &summing->sums;

	*out_code = NULL;
	if (module < 0)
		return 0;
	if (!sums->is_open[module]) {
		sums->is_open[module] = true;
		if (machine_code_open(summing->profile, module, &summing->wish->files,
				      &sums->code[module]) == -ENOMEM)
			return -ENOMEM;
	}
	*out_code = sums->code[module].names.file.elf ? &sums->code[module] : NULL;
	return 0;
}

static bool continues(const struct summing *summing, const struct code_block *block,
		      const struct code_site *site)
{
	const struct code_site *first = &summing->sums.site[block->first_site];

	if (first->module != site->module)
		return false;
	return block->symbol ? site->address < block->end : site->function == first->function;
}

static int find_blocks(struct summing *summing)
{
	struct code_sums *sums = &summing->sums;
	struct code_block *block = NULL;

	sums->code_count = summing->profile->module_count;
	sums->code = malloc((sums->code_count + 1) * sizeof(*sums->code));
	sums->is_open = calloc(sums->code_count + 1, sizeof(*sums->is_open));
	sums->block = calloc(sums->site_count + 1, sizeof(*sums->block));
	for (size_t i = 0; sums->code && i < sums->code_count; i++)
		sums->code[i] = MACHINE_CODE_CLOSED;
	if (!sums->code || !sums->is_open || !sums->block)
		return -ENOMEM;
	for (size_t i = 0; i < sums->site_count; i++) {
		struct code_site *site = &sums->site[i];
		if (!block || !continues(summing, block, site)) {
			block = &sums->block[sums->block_count++];
			block->first_site = i;
			if (code_of(summing, site->module, &block->code))
				return -ENOMEM;
			if (block->code) {
				site->address =
					module_names_code(&block->code->names, site->address + 1);
				block->symbol =
					module_names_extent(&block->code->names, site->address,
							    &block->begin, &block->end);
			}
		}
		site->block = (uint32_t)(block - sums->block);
		block->site_end = i + 1;
	}
	return 0;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* The frame that has the first call that functions_unfold() keeps: the frames from it on count. */
static uint32_t leaf_frame(const struct functions *functions, const struct profile_stack *stack)
{
	for (uint32_t leaf = 0; leaf < stack->frame_count; leaf++) {
		const uint32_t frame = stack->frame[leaf];

		for (uint32_t call = functions->first[frame]; call < functions->first[frame + 1];
		     call++) {
			if (!functions->call[call].is_allocator)
				return leaf;
		}
	}
	return stack->frame_count ? stack->frame_count - 1 : 0;
}

static void add_weight(struct code_weight *to, double value, double samples)
{
	to->value += value;
	to->samples += samples;
}

static void sum_stack(struct summing *summing, const struct profile_stack *stack, uint32_t round,
		      const struct estimate *weight)
{
	const uint32_t leaf = leaf_frame(summing->functions, stack);

	for (uint32_t i = leaf; i < stack->frame_count; i++) {
		const uint32_t index = summing->sums.site_of[stack->frame[i]];
		if (index == NO_SITE)
			continue;
		struct code_site *site = &summing->sums.site[index];
		struct code_block *block = &summing->sums.block[site->block];
		if (i == leaf) {
			add_weight(&site->flat, weight->value, weight->samples);
			estimate_add(&block->flat, weight);
		}
		if (summing->site_round[index] != round)
			add_weight(&site->cum, weight->value, weight->samples);
		if (summing->block_round[site->block] != round)
			estimate_add(&block->cum, weight);
		summing->site_round[index] = summing->block_round[site->block] = round;
	}
}

static int sum_rows(struct summing *summing)
{
	const struct profile *profile = summing->profile;

	summing->site_round = calloc(summing->sums.site_count + 1, sizeof(*summing->site_round));
	summing->block_round = calloc(summing->sums.block_count + 1, sizeof(*summing->block_round));
	if (!summing->site_round || !summing->block_round)
		return -ENOMEM;
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct estimate weight =
			estimate_of(profile, &profile->row[i], summing->wish->type);
		if (weight.value != 0)
			sum_stack(summing, &profile->stack[profile->row[i].key.stack],
				  (uint32_t)i + 1, &weight);
	}
	return 0;
}

static bool has_own_code(const struct summing *summing)
{
	for (size_t i = 0; i < summing->profile->frame_count; i++) {
		if (is_wanted(summing, i, false))
			return true;
	}
	return false;
}

int code_sums_open(const struct profile *profile, const struct functions *functions,
		   const struct code_wish *wish, struct code_sums *out_sums)
{
	struct summing summing = {.profile = profile, .functions = functions, .wish = wish};
	int err = collect_sites(&summing, wish->with_inlined || !has_own_code(&summing));

	if (!err)
		err = find_blocks(&summing);
	if (!err)
		err = sum_rows(&summing);
	free(summing.site_round);
	free(summing.block_round);
	if (err)
		code_sums_close(&summing.sums);
	else
		*out_sums = summing.sums;
	return err;
}

void code_sums_close(struct code_sums *sums)
{
	for (size_t i = 0; sums->code && sums->is_open && i < sums->code_count; i++)
		machine_code_close(&sums->code[i]);
	free(sums->code);
	free(sums->is_open);
	free(sums->block);
	free(sums->site);
	free(sums->site_of);
	*sums = (struct code_sums){0};
}

/* The first site of a block at or after an address. */
static size_t site_from(const struct code_sums *sums, const struct code_block *block,
			uint64_t address)
{
	size_t low = block->first_site, high = block->site_end;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (sums->site[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void code_sums_at(const struct code_sums *sums, const struct code_block *block, uint64_t address,
		  uint32_t size, struct code_weight *out_flat, struct code_weight *out_cum)
{
	*out_flat = *out_cum = (struct code_weight){0};
	for (size_t i = site_from(sums, block, address); i < block->site_end; i++) {
		if (sums->site[i].address - address >= size)
			break;
		add_weight(out_flat, sums->site[i].flat.value, sums->site[i].flat.samples);
		add_weight(out_cum, sums->site[i].cum.value, sums->site[i].cum.samples);
	}
}
