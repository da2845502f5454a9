/* SPDX-License-Identifier: MIT */
/* cli_family.h - the options of attach for several processes at a time. */
#ifndef HI_CLI_FAMILY_H
#define HI_CLI_FAMILY_H

#include <stdbool.h>

#include "cli_choice.h"
#include "session.h"

/* --follow-fork and --max-children, for cli_session_parse(). */
enum {
	CLI_FAMILY_FOLLOW_FORK = 656,
	CLI_FAMILY_MAX_CHILDREN,
};
#define CLI_FAMILY_FORK_OPTION_LIST                                              \
	{"follow-fork", no_argument, NULL, CLI_FAMILY_FOLLOW_FORK},              \
	{                                                                        \
		"max-children", required_argument, NULL, CLI_FAMILY_MAX_CHILDREN \
	}

struct cli_family {
	const char *command; /* attach, or run */
	struct choice choice;
	bool all, follows_fork;
	uint64_t children_max; /* 0 = not given */
};

/* Those of cli_choice.h and its own, for cli_session_parse(); context: a struct cli_family. */
extern const struct option cli_family_options[];
int cli_family_parse(void *context, int option, const char *value);
bool cli_family_is_given(const struct cli_family *family);
/* Rejects what does not go with several processes. Returns an exit code. */
int cli_family_check(const struct cli_family *family, const struct session_options *options);
/* options: complete; their pid is set, unless something else is given. Returns an exit code. */
int cli_family_attach(const struct cli_family *family, struct session_options *options);
/* The same of a program that is started; options: complete and checked. */
int cli_family_run(const struct cli_family *family, struct session_options *options, char **argv);

#endif
