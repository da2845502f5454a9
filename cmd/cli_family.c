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

enum { OPTION_ALL = CLI_MORE_OPTIONS, OPTION_FOLLOW_FORK, OPTION_MAX_CHILDREN };

const struct option cli_family_options[] = {
	CLI_CHOICE_OPTION_LIST,
	{"all", no_argument, NULL, OPTION_ALL},
	{"follow-fork", no_argument, NULL, OPTION_FOLLOW_FORK},
	{"max-children", required_argument, NULL, OPTION_MAX_CHILDREN},
	{NULL, 0, NULL, 0}};

static int parse_children(const char *value, uint64_t *out_count)
{
	const char *end;

	if (hi_parse_digits(value, out_count, &end) || *end || !*out_count ||
	    *out_count > CHILDREN_MAX)
		return cli_usage_error("attach", "not a number of children (1 to 4096)", value);
	return HI_EXIT_OK;
}

int cli_family_parse(void *context, int option, const char *value)
{
	struct cli_family *family = context;
	const bool is_on = !value || strcmp(value, CLI_OFF) != 0;

	if (option == OPTION_MAX_CHILDREN)
		return parse_children(value, &family->children_max);
	if (option == OPTION_ALL)
		family->all = is_on;
	else if (option == OPTION_FOLLOW_FORK)
		family->follows_fork = is_on;
	else
		return cli_choice_parse("attach", option, value, &family->choice);
	return HI_EXIT_OK;
}

bool cli_family_is_given(const struct cli_family *family)
{
	return family->all || family->follows_fork || family->children_max;
}

static int check(const struct cli_family *family, const struct session_options *options)
{
	if (family->children_max && !family->follows_fork)
		return cli_usage_error("attach", "--max-children is for --follow-fork", NULL);
	if (options->stream_path || !strcmp(options->prefix, "-"))
		return cli_usage_error("attach",
				       "the record stream (-o -, --stream) is of one process: not "
				       "with --all and --follow-fork",
				       NULL);
	if (options->detached || options->triggers.signal)
		return cli_usage_error("attach",
				       "--detached and --on-signal are of one session: not with "
				       "--all and --follow-fork; put the command into the "
				       "background (nohup ... &), and ask all with heapinject dump "
				       "--all, and detach --all",
				       NULL);
	return cli_choice_check_all("attach", &family->choice, family->all);
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

int cli_family_attach(const struct cli_family *family, struct session_options *options)
{
	struct processes_found found = {0};
	int exit_code = check(family, options);

	if (exit_code == HI_EXIT_OK)
		exit_code = family->all ? cli_choose_all("attach", &family->choice, &found)
					: choose_one(family, options->pid, &found);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	const struct family_options family_options = {
		.session = options,
		.found = &found,
		.follows_fork = family->follows_fork,
		.children_max =
			family->children_max ? (size_t)family->children_max : CHILDREN_DEFAULT};
	exit_code = family_run(&family_options);
	processes_found_close(&found);
	return exit_code;
}
