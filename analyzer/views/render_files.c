/* SPDX-License-Identifier: MIT */
/*
 * render_files.c - the two file formats that a session writes, as views: to convert, to merge, to
 * compare.
 */
#include "heapfile.h"
#include "pprof.h"
#include "render_formats.h"

int render_heap(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const int err = render_refuse_comparison(profile, "a heap profile");

	(void)options;
	return err ? err : render_result(heapfile_write(profile, out), out);
}

int render_pprof(const struct profile *profile, const struct render_options *options, FILE *out)
{
	const int err = render_refuse_terminal(out, "pprof");

	(void)options;
	return err ? err : render_result(pprof_write(profile, out), out);
}
