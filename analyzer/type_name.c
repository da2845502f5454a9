/* SPDX-License-Identifier: MIT */
/* type_name.c - the readable names of a C++ class and of a variable. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "hi_analyzer.h"

#define OF_TYPE "_ZTS" /* the mangled name of a class's name */
#define READS_AS "typeinfo name for "

char *hi_analyzer_type_name(const char *mangled)
{
	char *symbol = NULL;

	if (asprintf(&symbol, OF_TYPE "%s", mangled) < 0)
		return NULL;
	char *name = demangle_cxx(symbol, true);

	free(symbol);
	if (!name)
		return strdup(mangled);
	if (!strncmp(name, READS_AS, sizeof(READS_AS) - 1))
		memmove(name, name + sizeof(READS_AS) - 1, strlen(name) - sizeof(READS_AS) + 2);
	return name;
}

char *hi_analyzer_variable_name(const char *symbol)
{
	return demangle(symbol, true);
}
