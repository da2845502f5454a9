/* SPDX-License-Identifier: MIT */
/* cli_choice.c - see cli_choice.h. */
#include "cli_choice.h"

#include <stdio.h>
#include <string.h>

#include "choice_print.h"
#include "cli_arguments.h"
#include "hi_exit.h"
#include "hi_units.h"

#define PORT_MAX 65535u

/* ---- what is given --------------------------------------------------------------------------- */

static int parse_port(const char *command, const char *value, uint16_t *out_port)
{
	uint64_t port;
	const char *end;

	if (hi_parse_digits(value, &port, &end) || *end || !port || port > PORT_MAX)
		return cli_usage_error(command, "not a port (1 to 65535)", value);
	*out_port = (uint16_t)port;
	return HI_EXIT_OK;
}

int cli_choice_parse(const char *command, int option, const char *value, struct choice *choice)
{
	if (choice_is_given(choice))
		return cli_usage_error(
			command, "only one of --name, --cgroup, --unit and --port can be given",
			NULL);
	if (!*value)
		return cli_usage_error(command, "a name is empty", NULL);
	switch (option) {
	case CLI_CHOICE_NAME:
		choice->name = value;
		break;
	case CLI_CHOICE_CGROUP:
		choice->cgroup = value;
		break;
	case CLI_CHOICE_UNIT:
		if (strchr(value, '/'))
			return cli_usage_error(command, "not the name of a unit", value);
		choice->unit = value;
		break;
	default:
		return parse_port(command, value, &choice->port);
	}
	return HI_EXIT_OK;
}

/* a number is never a name */
static bool is_number(const char *text)
{
	return !text[strspn(text, "0123456789")];
}

int cli_choice_complete(int argc, char **argv, int first, struct choice *choice, pid_t *out_pid)
{
	if (choice_is_given(choice))
		return first < argc
			       ? cli_usage_error(argv[0],
						 "a process besides --name, --cgroup, --unit or "
						 "--port",
						 argv[first])
			       : HI_EXIT_OK;
	if (argc <= first)
		return cli_usage_error(argv[0], "which process? give its PID, or its name", NULL);
	if (argc > first + 1)
		return cli_usage_error(argv[0], "one argument too many", argv[first + 1]);
	if (is_number(argv[first]))
		return cli_parse_pid(argv[0], argv[first], out_pid);
	choice->name = argv[first];
	return HI_EXIT_OK;
}

/* ---- the process ----------------------------------------------------------------------------- */

static int complain(const char *command, const struct choice *choice, int err)
{
	char why[CHOICE_TEXT_MAX];

	fprintf(stderr, "heapinject %s: %s\n", command, choice_explain(choice, err, why));
	return HI_EXIT_REFUSED;
}

static bool takes_all(const char *command)
{
	static const char *const those[] = {"attach", "detach", "dump",  "pause",
					    "reset",  "resume", "status"};

	for (size_t i = 0; i < sizeof(those) / sizeof(*those); i++)
		if (!strcmp(command, those[i]))
			return true;
	return false;
}

static int complain_of_several(const char *command, const struct choice *choice,
			       const struct processes_found *found)
{
	char wanted[CHOICE_TEXT_MAX];

	fprintf(stderr, "heapinject %s: there are %zu processes %s:\n", command, found->count,
		choice_describe(choice, wanted));
	choice_print(found, stderr);
	fprintf(stderr, "Give the PID of one%s\n", takes_all(command) ? ", or --all for each" : "");
	return HI_EXIT_USAGE;
}

int cli_choice_check_all(const char *command, const struct choice *choice, bool all)
{
	return all && !choice_is_given(choice)
		       ? cli_usage_error(command, "--all goes with a name, not with a PID", NULL)
		       : HI_EXIT_OK;
}

int cli_choose_all(const char *command, const struct choice *choice,
		   struct processes_found *out_found)
{
	struct processes_found found = {0};
	const int err = choice_find(choice, &found);

	if (err || !found.count)
		return complain(command, choice, err);
	*out_found = found;
	return HI_EXIT_OK;
}

int cli_choose_one(const char *command, const struct choice *choice, pid_t *out_pid)
{
	struct processes_found found;
	int exit_code = cli_choose_all(command, choice, &found);

	if (exit_code != HI_EXIT_OK)
		return exit_code;
	if (found.count > 1)
		exit_code = complain_of_several(command, choice, &found);
	else
		*out_pid = found.process[0].pid;
	processes_found_close(&found);
	return exit_code;
}

int cli_choose_process(const char *command, const char *text, pid_t *out_pid)
{
	const struct choice choice = {.name = text};

	return is_number(text) ? cli_parse_pid(command, text, out_pid)
			       : cli_choose_one(command, &choice, out_pid);
}

int cli_choose_only_process(int argc, char **argv, int first, pid_t *out_pid)
{
	struct choice choice = {0};
	const int exit_code = cli_choice_complete(argc, argv, first, &choice, out_pid);

	return exit_code == HI_EXIT_OK && choice.name ? cli_choose_one(argv[0], &choice, out_pid)
						      : exit_code;
}
