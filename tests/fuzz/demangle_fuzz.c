/* SPDX-License-Identifier: MIT */
/*
 * demangle_fuzz.c - mangled names: the demanglers of our own, and what shortens the names of
 * others. C++ is left to libstdc++'s own fuzzing.
 *
 * libFuzzer: -max_len=1024
 */
#include "demangle.h"
#include "fuzz.h"

#define READABLE_MAX (1u << 20)

static void check(char *readable)
{
	FUZZ_CHECK(!readable || strlen(readable) < READABLE_MAX);
	free(readable);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = fuzz_text(data, size);

	check(demangle_rust_legacy(name));
	check(demangle_rust_v0(name, false));
	check(demangle_rust_v0(name, true));
	demangle_shorten(name);
	FUZZ_CHECK(strlen(name) <= size);
	free(name);
	return 0;
}
