/* SPDX-License-Identifier: MIT */
/*
 * render_symbolize.c - writes a heap profile again, unchanged except for the names that could be
 * found on this machine. It is for files from a machine without symbols or debug information.
 *
 * The output is that of --heap. The differences are elsewhere: the input must be one file,
 * unfiltered (report_options.c), and names are looked up wherever they could become more precise,
 * not only where there are none (report_file.c).
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
		return render_fail(-EINVAL,
				   "this profile has names and no addresses: there is nothing to "
				   "look up; --heap makes a heap profile of it");
	return render_heap(profile, options, out);
}
