/* SPDX-License-Identifier: MIT */
/*
 * render.c - see render.h.
 */
#include "render.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "render_formats.h"

const struct renderer renderers[] = {
	{"text", 't', NULL, ".txt", "table of functions", render_text},
	{"svg", 's', NULL, ".svg", "call graph, drawn by graphviz", render_svg},
	{"collapsed", 0, NULL, ".collapsed", "one line per stack, for flamegraph.pl, speedscope and the like", render_collapsed},
	{"list", 0, "REGEX", NULL, "source of matching functions, line by line", render_list},
	{"disasm", 0, "REGEX", NULL, "machine code of matching functions, by instruction", render_disasm},
	{NULL, 0, NULL, NULL, NULL, NULL},
};

static char last_error[512];

int render_fail(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(last_error, sizeof(last_error), format, arguments);
	va_end(arguments);
	return error;
}

int render_result(int error, FILE *out)
{
	if (!error && (fflush(out) || ferror(out)))
		return render_fail(-EIO, "cannot write the report: %s", strerror(errno));
	return error ? render_fail(error, "cannot make the report: %s", strerror(-error)) : 0;
}

const char *render_error(void)
{
	return last_error;
}
