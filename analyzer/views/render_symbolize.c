/* SPDX-License-Identifier: MIT */
/*
 * render_symbolize.c - the profile once more as a .heap file, with the names that could be found here: for files that come from a machine that had none.
 *
 * In such a file a frame is an address and nothing else. What cannot be told apart by addresses is refused, as names would end up on the wrong frames.
 */
#include "render_formats.h"

#include <errno.h>
#include <stdlib.h>

#include "heapfile.h"

static int compare_addresses(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* 0, or -EINVAL where two frames have one address in different modules, as two processes do. */
static int check_addresses(const struct profile *profile)
{
	uint64_t *address = malloc((profile->frame_count + 1) * sizeof(*address));
	int error = 0;

	if (!address)
		return -ENOMEM;
	for (size_t i = 0; i < profile->frame_count; i++)
		address[i] = profile->frame[i].address;
	qsort(address, profile->frame_count, sizeof(*address), compare_addresses);
	for (size_t i = 1; i < profile->frame_count && !error; i++)
		error = address[i] == address[i - 1] ? -EINVAL : 0;
	free(address);
	return error;
}

int render_symbolize(const struct profile *profile, const struct render_options *options, FILE *out)
{
	(void)options;
	for (size_t i = 0; i < profile->row_count; i++) {
		if (profile->row[i].key.side == PROFILE_BASE)
			return render_fail(-EINVAL, "a comparison is no heap profile: symbolize each file by itself");
	}
	for (size_t i = 0; i < profile->frame_count; i++) {
		if (!profile->frame[i].address)
			return render_fail(-EINVAL, "this profile has names and no addresses: there is nothing to look up");
	}
	const int error = check_addresses(profile);
	if (error == -EINVAL)
		return render_fail(error, "the files come from different processes: symbolize each by itself");
	return render_result(error ? error : heapfile_write(profile, out), out);
}
