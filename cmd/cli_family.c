/* SPDX-License-Identifier: MIT */
/* cli_family.c - see cli_family.h. */
#include "cli_family.h"

#include <string.h>

#include "cli_arguments.h"
#include "family.h"
#include "hi_exit.h"

enum { OPTION_ALL = CLI_MORE_OPTIONS };

const struct option cli_family_options[] = {
	CLI_CHOICE_OPTION_LIST, {"all", no_argument, NULL, OPTION_ALL}, {NULL, 0, NULL, 0}};

int cli_family_parse(void *context, int option, const char *value)
{
	struct cli_family *family = context;

	if (option != OPTION_ALL)
		return cli_choice_parse("attach", option, value, &family->choice);
	family->all = !value || strcmp(value, CLI_OFF) != 0;
	return HI_EXIT_OK;
}

bool cli_family_is_given(const struct cli_family *family)
{
	return family->all;
}

static int check(const struct cli_family *family, const struct session_options *options)
{
	if (!choice_is_given(&family->choice))
		return cli_usage_error("attach", "--all goes with a name, not with a PID", NULL);
	if (options->stream_path || !strcmp(options->prefix, "-"))
		return cli_usage_error(
			"attach",
			"the record stream (-o -, --stream) is of one process: not with --all",
			NULL);
	if (options->detached)
		return cli_usage_error("attach", "--detached is for one process: not with --all",
				       NULL);
	if (options->triggers.signal)
		return cli_usage_error("attach", "--on-signal is for one process: not with --all",
				       NULL);
	return HI_EXIT_OK;
}

int cli_family_attach(const struct cli_family *family, struct session_options *options)
{
	struct processes_found found = {0};
	int exit_code = check(family, options);

	if (exit_code == HI_EXIT_OK)
		exit_code = cli_choose_all("attach", &family->choice, &found);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	const struct family_options family_options = {.session = options, .found = &found};
	exit_code = family_run(&family_options);
	processes_found_close(&found);
	return exit_code;
}
