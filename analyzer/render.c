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
	{"tree", 0, NULL, NULL, "each function with its callers above and its callees below", render_tree},
	{"peek", 0, "RE", NULL, "the same for the functions whose names match, untrimmed", render_peek},
	{"traces", 0, NULL, NULL, "every stack with what it holds", render_traces},
	{"threads", 0, NULL, NULL, "table of the threads that allocated", render_threads},
	{"modules", 0, NULL, NULL, "table of the program and its libraries", render_modules},
	{"sizes", 0, NULL, NULL, "histogram of block sizes", render_sizes},
	{"svg", 's', NULL, ".svg", "call graph, drawn by graphviz", render_svg},
	{"collapsed", 0, NULL, ".collapsed", "one line per stack, for flamegraph.pl, speedscope and the like", render_collapsed},
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
