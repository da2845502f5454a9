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

FILE *type_names_give_up_rights(void)
{
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	int *const kept[] = {&out};
	struct sandbox_state state;

	if (out < 0 || sandbox_keep(kept, 1) ||
	    sandbox_enter(identity_to_run_as(identity_of_caller()), -1, &state))
		return NULL;
	return fdopen(out, "w");
}

char *type_names_readable(const char *mangled)
{
	char *name = hi_analyzer_type_name(mangled);

	for (char *at = name; at && *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	return name ? name : strdup("(out of memory)");
}
