/* SPDX-License-Identifier: MIT */
/*
 * render_symbolize.c - one heap profile once more, as it was, with the names that could be found here: for files that come from a machine that had none, or no
 * debug information.
 *
 * It is written as --heap writes it. What is different is what it may be made of (report_options.c): one file, and all of it; and that names are looked for
 * wherever more could be told, not only where there is none (report.c).
 */
#include "render_formats.h"

#include <errno.h>

static bool has_addresses(const struct profile *profile)
{
	for (size_t i = 0; i < profile->frame_count; i++) {
		if (profile->frame[i].address)
			return true;
	}
	return profile->frame_count == 0;
}

int render_symbolize(const struct profile *profile, const struct render_options *options, FILE *out)
{
	if (!has_addresses(profile))
		return render_fail(-EINVAL, "this profile has names and no addresses: there is nothing to look up; --heap makes a heap profile of it");
	return render_heap(profile, options, out);
}
