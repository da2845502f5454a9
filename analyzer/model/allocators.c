/* SPDX-License-Identifier: MIT */
/* allocators.c - see allocators.h. */
#include "allocators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A trailing * matches any rest of a name. Names that a programmer may have chosen (zmalloc,
 * xmalloc) are not in the list: the user wants to see these functions.
 */
static const char *const names[] = {
	"operator new",
	"operator new[]",
	"std::allocator::allocate",
	"std::allocator_traits::allocate*",
	"std::__new_allocator::allocate",
	"__gnu_cxx::new_allocator::allocate",
	"__gnu_cxx::__alloc_traits::allocate*",
	"std::_Vector_base::_M_allocate",
	"std::_Deque_base::_M_allocate*",
	"std::__cxx11::basic_string::_M_create",
	"std::__allocate_guarded*",
	"__rust_alloc*",
	"__rustc::__r*",
	"__rdl_alloc*",
	"alloc::alloc::*",
	"<alloc::alloc::Global*",
};
#define NAMES (sizeof(names) / sizeof(names[0]))

bool allocators_has(const char *function)
{
	for (size_t i = 0; i < NAMES; i++) {
		const size_t length = strcspn(names[i], "*");

		if (names[i][length] ? strncmp(function, names[i], length) == 0
				     : strcmp(function, names[i]) == 0)
			return true;
	}
	return false;
}

static void put_pattern(const char *name, FILE *out)
{
	for (; *name; name++) {
		if (*name == '*')
			fputs(".*", out);
		else
			fprintf(out, strchr("[](){}.+?^$|\\", *name) ? "\\%c" : "%c", *name);
	}
}

char *allocators_pattern(void)
{
	char *pattern = NULL;
	size_t size;
	FILE *out = open_memstream(&pattern, &size);

	for (size_t i = 0; out && i < NAMES; i++) {
		fputs(i ? "|" : "", out);
		put_pattern(names[i], out);
	}
	if (!out || fclose(out)) {
		free(pattern);
		return NULL;
	}
	return pattern;
}
