/* SPDX-License-Identifier: MIT */
/* pool_rows.c - see pool_rows.h. */
#include "pool_rows.h"

#include <stdlib.h>
#include <string.h>

#include "sample_types.h"
#include "side_rows.h"

const struct pool_type pool_types[POOL_TYPES] = {
	{"pool_objects", "count", ALLOC_OBJECTS},
	{"pool_space", "bytes", ALLOC_SPACE},
	{"inuse_pool_objects", "count", INUSE_OBJECTS},
	{"inuse_pool_space", "bytes", INUSE_SPACE},
};

static const char *function_of(const struct profile *profile, const struct profile_row *row)
{
	const struct label_set *labels = labels_get(&profile->labels, row->key.labels);

	for (size_t i = 0; i < labels->count; i++)
		if (labels->label[i].text && strcmp(labels->label[i].key, POOL_LABEL) == 0)
			return labels->label[i].text;
	return "";
}

bool pool_rows_is_senseless(const struct profile *profile, const struct profile_row *row)
{
	const char *function = function_of(profile, row);

	for (unsigned i = 0; i < HI_NAMED_MAX; i++) {
		const struct profile_named *named = &profile->named[i];

		if (named->name && strcmp(named->name, function) == 0)
			return named->senseless > named->calls / 2;
	}
	return false;
}

int pool_rows_show(struct profile *profile)
{
	struct profile_row *row = profile->pooled;
	const size_t all = profile->pooled_count;
	size_t count = 0;

	for (size_t i = 0; i < all; i++)
		if (!pool_rows_is_senseless(profile, &row[i]))
			row[count++] = row[i];
	profile->pooled = NULL;
	profile->pooled_count = 0;
	profile->meta.residency = PROFILE_RESIDENCY_UNKNOWN;
	return side_rows_show(profile, row, count);
}
