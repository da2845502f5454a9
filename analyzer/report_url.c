/* SPDX-License-Identifier: MIT */
/* report_url.c - see report_url.h. */
#include "report_url.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "printable.h"
#include "progress_bar.h"
#include "reader.h"
#include "remote_profile.h"

#define SHOWN_MAX 60u /* bytes of an answer that is no profile */

/* What the answer begins with shows what it is, where it is no profile. */
static void complain(const struct report_options *options, const char *argument, int err, int fd,
		     const char *damage)
{
	char begin[SHOWN_MAX + 1] = "";
	const ssize_t size = pread(fd, begin, SHOWN_MAX, 0);

	begin[size > 0 ? size : 0] = '\0';
	begin[strcspn(begin, "\r\n")] = '\0';
	printable(begin);
	if (err == -ENODATA)
		report_complain(options, "%s: the answer is empty", argument);
	else if (err == -ENOEXEC)
		report_complain(options,
				"%s: the answer is no heap profile, it begins with \"%s\"; heap "
				"profiles are at " REMOTE_PROFILE_PATHS,
				argument, begin);
	else if (damage)
		report_complain(options, "%s: %s%s", argument, damage,
				err ? "" : "; showing what was good");
	else
		report_complain(options, "%s: %s", argument, strerror(-err));
}

static int complete(const struct report_options *options, const char *argument,
		    const struct remote_profile *remote, struct profile *profile)
{
	char complaint[HTTP_COMPLAINT_MAX] = "";

	progress_bar_phase("asking the server for names");
	const int err = remote_profile_complete(remote, profile, complaint);
	if (err)
		report_complain(options, "out of memory");
	else if (*complaint)
		report_complain(options,
				"%s: the server names no code: %s; it is named as far as its files "
				"are found here (-p: the program)",
				argument, complaint);
	return err;
}

int report_url_load(const struct report_options *options, const char *argument,
		    struct profile *profile)
{
	char complaint[HTTP_COMPLAINT_MAX] = "";
	struct remote_profile remote;
	int err = remote_profile_fetch(argument, &options->fetch, &remote, complaint);

	if (err) {
		report_complain(options, "%s: %s", argument, complaint);
		return -EIO;
	}
	progress_bar_phase("reading");
	progress_bar_file(remote.fd);
	err = reader_read(remote.fd, profile);
	progress_bar_phase("reading"); /* progress of that file has ended */
	if (err || profile->meta.damage)
		complain(options, argument, err, remote.fd, profile->meta.damage);
	close(remote.fd);
	/* one that is empty is not as a file that is still to be written */
	return err == -ENODATA ? -EIO : err ? err : complete(options, argument, &remote, profile);
}
