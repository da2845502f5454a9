/* SPDX-License-Identifier: MIT */
/* cli_family.c - see cli_family.h. */
#include "cli_family.h"

#include <stdio.h>
#include <string.h>

#include "cli_arguments.h"
#include "family.h"
#include "hi_exit.h"
#include "hi_units.h"

#define CHILDREN_DEFAULT 64u
#define CHILDREN_MAX 4096u

enum { OPTION_ALL = CLI_MORE_OPTIONS };

const struct option cli_family_options[] = {CLI_CHOICE_OPTION_LIST,
					    {"all", no_argument, NULL, OPTION_ALL},
					    CLI_FAMILY_FORK_OPTION_LIST,
					    {NULL, 0, NULL, 0}};

static int parse_children(const char *command, const char *value, uint64_t *out_count)
{
	const char *end;

	if (hi_parse_digits(value, out_count, &end) || *end || !*out_count ||
	    *out_count > CHILDREN_MAX)
		return cli_usage_error(command, "not a number of children (1 to 4096)", value);
	return HI_EXIT_OK;
}

int cli_family_parse(void *context, int option, const char *value)
{
	struct cli_family *family = context;
	const bool is_on = !value || strcmp(value, CLI_OFF) != 0;

	if (option == CLI_FAMILY_MAX_CHILDREN)
		return parse_children(family->command, value, &family->children_max);
	if (option == OPTION_ALL)
		family->all = is_on;
	else if (option == CLI_FAMILY_FOLLOW_FORK)
		family->follows_fork = is_on;
	else
		return cli_choice_parse(family->command, option, value, &family->choice);
	return HI_EXIT_OK;
}

bool cli_family_is_given(const struct cli_family *family)
{
	return family->all || family->follows_fork || family->children_max;
}

int cli_family_check(const struct cli_family *family, const struct session_options *options)
{
	if (family->children_max && !family->follows_fork)
		return cli_usage_error(family->command, "--max-children is for --follow-fork",
				       NULL);
	if (options->stream_path || !strcmp(options->prefix, "-"))
		return cli_usage_error(family->command,
				       "the record stream (-o -, --stream) is of one process: not "
				       "with --all and --follow-fork",
				       NULL);
	if (options->detached || options->triggers.signal)
		return cli_usage_error(family->command,
				       "--detached and --on-signal are of one session: not with "
				       "--all and --follow-fork; put the command into the "
				       "background (nohup ... &), and ask all with heapinject dump "
				       "--all, and detach --all",
				       NULL);
	return cli_choice_check_all(family->command, &family->choice, family->all);
}

/* The only one that is meant, as a list. */
static int choose_one(const struct cli_family *family, pid_t pid, struct processes_found *out_found)
{
	int exit_code = HI_EXIT_OK;

	if (choice_is_given(&family->choice))
		exit_code = cli_choose_one("attach", &family->choice, &pid);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	if (processes_found_add(out_found, pid))
		return HI_EXIT_FAILED;
	if (out_found->count)
		return HI_EXIT_OK;
	fprintf(stderr, "heapinject attach: there is no process %d that has memory\n", (int)pid);
	return HI_EXIT_REFUSED;
}

static struct family_options options_of(const struct cli_family *family,
					const struct session_options *options)
{
	return (struct family_options){.session = options,
				       .follows_fork = family->follows_fork,
				       .children_max = family->children_max
							       ? (size_t)family->children_max
							       : CHILDREN_DEFAULT};
}

int cli_family_attach(const struct cli_family *family, struct session_options *options)
{
	struct processes_found found = {0};
	int exit_code = cli_family_check(family, options);

	if (exit_code == HI_EXIT_OK)
		exit_code = family->all ? cli_choose_all("attach", &family->choice, &found)
					: choose_one(family, options->pid, &found);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	struct family_options family_options = options_of(family, options);
	family_options.found = &found;
	exit_code = family_run(&family_options);
	processes_found_close(&found);
	return exit_code;
}

int cli_family_run(const struct cli_family *family, struct session_options *options, char **argv)
{
	struct family_options family_options = options_of(family, options);

	family_options.argv = argv;
	return family_run(&family_options);
}
