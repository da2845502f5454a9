/* SPDX-License-Identifier: MIT */
/* mapping_growth.c - see mapping_growth.h. */
#include "mapping_growth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "mapping_rows.h"

/* What the function of a call has mapped. */
struct sum {
	uint32_t call;
	double bytes, resident;
};

static void add(struct sum *sum, size_t *count, const struct user_frames *frames,
		const struct sum *what)
{
	const uint32_t function = frames->functions.call[what->call].function;
	size_t i = 0;

	while (i < *count && frames->functions.call[sum[i].call].function != function)
		i++;
	if (i == *count)
		sum[(*count)++] = (struct sum){.call = what->call};
	sum[i].bytes += what->bytes;
	sum[i].resident += what->resident;
}

static double *part_of(struct mapping_growth *growth, const char *owner)
{
	if (strcmp(owner, MAPPING_OF_ALLOCATOR) == 0)
		return &growth->allocators;
	if (strcmp(owner, MAPPING_OF_THREAD) == 0)
		return &growth->stacks;
	if (strcmp(owner, MAPPING_OF_GO) == 0)
		return &growth->go;
	if (strcmp(owner, MAPPING_OF_UNKNOWN) == 0)
		return &growth->unknown;
	return strcmp(owner, MAPPING_OF_LINKER) == 0 ? &growth->linker : &growth->application;
}

/* Of these estimated bytes of a row. */
static double resident_of(const struct profile_row *row, double bytes)
{
	return row->inuse_bytes ? bytes * (double)row->resident_bytes / (double)row->inuse_bytes
				: 0;
}

static void choose(const struct sum *sum, size_t count, struct mapping_growth *growth)
{
	for (size_t i = 0; i < count; i++) {
		const double bytes = growth->resident > 0 ? sum[i].resident : sum[i].bytes;

		if (bytes <= growth->most)
			continue;
		growth->most = bytes;
		growth->call = sum[i].call;
	}
}

/* In place of blocks: then they are the figures of the answer themselves. */
static bool are_shown(const struct profile *profile)
{
	return profile->row_count && profile->row[0].is_mapping;
}

int mapping_growth_of(const struct profile *profile, const struct user_frames *frames,
		      struct mapping_growth *out_growth)
{
	struct sum *sum = calloc(profile->mapping_count + 1, sizeof(*sum));
	const bool has_resident = profile->mapping_residency == PROFILE_RESIDENCY_KNOWN;
	size_t count = 0;

	*out_growth = (struct mapping_growth){
		.is_known = profile->has_mappings && !are_shown(profile),
		.resident = has_resident ? 0 : -1,
	};
	if (!sum)
		return -ENOMEM;
	for (size_t i = 0; i < profile->mapping_count; i++) {
		const struct profile_row *row = &profile->mapping[i];
		const double all = estimate_of(profile, row, INUSE_SPACE).value;
		double *part = part_of(out_growth, mapping_rows_owner(profile, row));
		/* glibc gives rights to a stack right after it was mapped */
		const bool is_reserved =
			mapping_rows_is_reserved(profile, row) && part != &out_growth->stacks;
		/* what is in memory has got rights since it was reserved */
		const double bytes = is_reserved ? resident_of(row, all) : all;
		struct user_frame found;

		if (is_reserved && (!has_resident || bytes <= 0))
			continue;
		*part += bytes;
		if (part != &out_growth->application)
			continue;
		if (has_resident)
			out_growth->resident += resident_of(row, all);
		if (user_frame_of(frames, row->key.stack, &found))
			add(sum, &count, frames,
			    &(struct sum){found.call, bytes, resident_of(row, all)});
	}
	choose(sum, count, out_growth);
	free(sum);
	return 0;
}
