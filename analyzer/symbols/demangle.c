/* SPDX-License-Identifier: MIT */
/*
 * demangle.c - see demangle.h.
 *
 * Rust goes first: its older names are valid C++ manglings as well, and __cxa_demangle would show
 * them with their hash and escapes.
 */
#include "demangle.h"

#include <stdlib.h>
#include <string.h>

#include "printable.h"

void demangle_cut_marks(char *name)
{
	static const char *const marks[] = {"@",     ".constprop.", ".isra.", ".part.",
					    ".cold", ".lto_priv.",  ".llvm."};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		char *mark = *name ? strstr(name + 1, marks[i]) : NULL;
		if (mark)
			*mark = 0;
	}
}

char *demangle(const char *name, bool full)
{
	char *readable = demangle_rust_legacy(name);

	if (!readable)
		readable = demangle_rust_v0(name, full);
	if (!readable)
		readable = demangle_cxx(name, full);
	if (!readable) {
		readable = strdup(name);
		if (readable && !full)
			demangle_cut_marks(readable);
	}
	if (readable)
		printable(readable);
	return readable;
}
