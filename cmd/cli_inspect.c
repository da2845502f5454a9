/* SPDX-License-Identifier: MIT */
/* cli_inspect.c - see cli_inspect.h. */
#include "cli_inspect.h"

#include <stdio.h>
#include <string.h>

#include "cli_command.h"
#include "hi_exit.h"

int cli_inspect(const char *name, pid_t pid, unsigned seconds, bool as_json)
{
	static const struct command *const commands[] = {&cli_explain, &cli_census, &cli_leaks,
							 &cli_owners};
	char json[] = "--json", command[16], process[16], duration[32];
	char *argv[5] = {command, process};
	int argc = 2;

	snprintf(command, sizeof(command), "%s", name);
	snprintf(process, sizeof(process), "%d", (int)pid);
	snprintf(duration, sizeof(duration), "--duration=%us", seconds);
	if (seconds)
		argv[argc++] = duration;
	if (as_json)
		argv[argc++] = json;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i]->run(argc, argv);
	return HI_EXIT_USAGE;
}
