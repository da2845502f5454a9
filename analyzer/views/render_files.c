/* SPDX-License-Identifier: MIT */
/*
 * render_files.c - the two file formats that a session writes, as views: to convert, to merge, to
 * compare; and what the latter holds, in words.
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

/* Prints what pprof's format would hold of the profile. */
static int dump(const struct profile *profile, FILE *out,
		int (*print)(const struct protobuf *message, FILE *out))
{
	struct protobuf message;
	int err = pprof_message(profile, &message);

	if (!err)
		err = print(&message, out);
	protobuf_close(&message);
	return render_result(err, out);
}

int render_raw(const struct profile *profile, const struct render_options *options, FILE *out)
{
	(void)options;
	return dump(profile, out, pprof_dump);
}

int render_comments(const struct profile *profile, const struct render_options *options, FILE *out)
{
	(void)options;
	if (!profile->meta.comments)
		return dump(profile, out, pprof_dump_comments);
	fputs(profile->meta.comments, out);
	return render_result(0, out);
}
