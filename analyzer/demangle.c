/* SPDX-License-Identifier: MIT */
/*
 * demangle.c - see demangle.h.
 *
 * Rust goes first: its older names are valid C++ manglings as well, and __cxa_demangle would show them with their hash and escapes.
 */
#include "demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"

/* The demangler of libstdc++ bounds its recursion, but its output may grow with each back reference. Real names are shorter than this. */
#define CXX_NAME_MAX 4096

typedef char *(*cxa_demangle)(const char *name, char *buffer, size_t *size, int *status);
static cxa_demangle cxa_demangle_of_libstdcxx;

static void load_libstdcxx(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

	if (library)
		cxa_demangle_of_libstdcxx = (cxa_demangle)dlsym(library, "__cxa_demangle");
}

static char *demangle_cxx(const char *name, bool full)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int status;

	if (strncmp(name, "_Z", 2) != 0 || strlen(name) > CXX_NAME_MAX)
		return NULL;
	pthread_once(&once, load_libstdcxx);
	char *readable = cxa_demangle_of_libstdcxx ? cxa_demangle_of_libstdcxx(name, NULL, NULL, &status) : NULL;
	if (readable && !full)
		demangle_shorten(readable);
	if (readable && !*readable) {
		free(readable);
		return NULL;
	}
	return readable;
}

/* C names too carry marks of the linker and the optimizer: memcpy@@GLIBC_2.14, resize.part.0. */
static void cut_marks(char *name)
{
	static const char *const marks[] = {"@", ".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".llvm."};

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
			cut_marks(readable);
	}
	if (readable)
		printable(readable);
	return readable;
}
