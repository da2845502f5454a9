/* SPDX-License-Identifier: MIT */
/* cli_family.h - the options of attach for several processes at a time. */
#ifndef HI_CLI_FAMILY_H
#define HI_CLI_FAMILY_H

#include <stdbool.h>

#include "cli_choice.h"
#include "session.h"

struct cli_family {
	struct choice choice;
	bool all, follows_fork;
	uint64_t children_max; /* 0 = not given */
};

/* Those of cli_choice.h and its own, for cli_session_parse(); context: a struct cli_family. */
extern const struct option cli_family_options[];
int cli_family_parse(void *context, int option, const char *value);
bool cli_family_is_given(const struct cli_family *family);
/* options: complete; their pid is set, unless something else is given. Returns an exit code. */
int cli_family_attach(const struct cli_family *family, struct session_options *options);

#endif
