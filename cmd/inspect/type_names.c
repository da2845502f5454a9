/* SPDX-License-Identifier: MIT */
/* type_names.c - see type_names.h. */
#include "type_names.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hi_analyzer.h"
#include "identity.h"
#include "sandbox.h"

FILE *type_names_give_up_rights(int *file)
{
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	int errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	int *const kept[] = {&out, &errors, file};
	struct sandbox_state state;

	if (out < 0 || errors < 0 || sandbox_keep(kept, file ? 3 : 2) ||
	    dup2(errors, STDERR_FILENO) < 0 ||
	    sandbox_enter(identity_to_run_as(identity_of_caller()), -1, &state))
		return NULL;
	return fdopen(out, "w");
}

static char *printable(char *name)
{
	for (char *at = name; at && *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	return name ? name : strdup("(out of memory)");
}

char *type_names_readable(const char *mangled)
{
	return printable(hi_analyzer_type_name(mangled));
}

char *type_names_variable(const char *symbol)
{
	return printable(hi_analyzer_variable_name(symbol));
}
