/* SPDX-License-Identifier: MIT */
/* side_rows.c - see side_rows.h. */
#include "side_rows.h"

#include <stdlib.h>

#include "caveats.h"

int side_rows_show(struct profile *profile, struct profile_row *row, size_t count)
{
	const struct histories histories = profile->histories; /* of all kinds of rows */
	int err = 0;

	profile->histories = (struct histories){0};
	profile_forget(profile);
	profile->histories = histories;
	caveats_clear(&profile->meta);
	profile->meta.missing = 0;
	profile->meta.peak_inuse_bytes = profile->meta.peak_ns = 0;
	for (size_t i = 0; i < count && !err; i++) {
		uint32_t index;

		err = profile_row_append(profile, &row[i], &index);
	}
	free(row);
	return err;
}
