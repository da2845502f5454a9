/* SPDX-License-Identifier: MIT */
/* profile_set.c - see profile_set.h. */
#include "profile_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"

/* True of PROFILE_SET_MAX numbers below `total`, the last one among them. */
static bool is_chosen(size_t number, size_t total)
{
	return total <= PROFILE_SET_MAX ||
	       (number + 1) * PROFILE_SET_MAX / total != number * PROFILE_SET_MAX / total;
}

int profile_set_add(struct profile_set *set, const struct profile *profile, const char *name)
{
	struct profile *copy = &set->profile[set->count];

	if (set->count == PROFILE_SET_MAX || !is_chosen(set->seen++, set->total))
		return 0;
	if (profile_open(copy))
		return -ENOMEM;
	set->file[set->count++] = strdup(name);
	if (!set->file[set->count - 1] || profile_merge(copy, profile, PROFILE_NEW))
		return -ENOMEM;
	return 0;
}

void profile_set_close(struct profile_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		profile_close(&set->profile[i]);
		free(set->file[i]);
	}
	*set = (struct profile_set){0};
}
