/* SPDX-License-Identifier: MIT */
/* render_formats.c - what the views have in common. */
#include "render_formats.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

int render_refuse_comparison(const struct profile *profile, const char *format)
{
	if (!profile_has_base(profile))
		return 0;
	if (!profile_is_comparison(profile))
		return render_fail(
			-EINVAL,
			"%s has no place for what is in use without having been "
			"allocated, as the file has it; of it make --collapsed, --pprof, "
			"--speedscope or --json",
			format);
	return render_fail(-EINVAL,
			   "%s has no place for what has become less; of a comparison make "
			   "--collapsed, --pprof, --speedscope or --json",
			   format);
}

int render_refuse_terminal(FILE *out, const char *format)
{
	const int fd = fileno(out);

	return fd >= 0 && isatty(fd)
		       ? render_fail(-EINVAL, "--%s is not for terminals: name a file (-o)", format)
		       : 0;
}

static char last_error[512];

int render_fail(int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(last_error, sizeof(last_error), format, arguments);
	va_end(arguments);
	return err;
}

int render_result(int err, FILE *out)
{
	if (!err && (fflush(out) || ferror(out)))
		return render_fail(-EIO, "cannot write the report: %s", strerror(errno));
	return err ? render_fail(err, "cannot make the report: %s", strerror(-err)) : 0;
}

const char *render_error(void)
{
	return last_error;
}
