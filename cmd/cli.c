/* SPDX-License-Identifier: MIT */
/*
 * cli.c - finds the command and runs it. A new command is one word of `commands`, and a file that
 * has its function and its texts (cli_command.h).
 */
#include "cli.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli_command.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "hi_options.h"
#include "hi_version.h"

static int run_help(int argc, char **argv);

static const struct command
	report = {"report", hi_analyzer_report, "FILE|-... [VIEW] [-o OUT]",
		  "show profiles as text, graphs, flame graphs, other tools' formats", NULL},
	diff = {"diff", hi_analyzer_report, "OLD NEW [VIEW] [-o OUT]",
		"show what has changed from one profile to another", NULL},
	help = {"help", run_help, "[COMMAND]", "show this help, or that of a command", ""};

static const struct command *const commands[] = {
	&cli_check,  &cli_explain,     &cli_census, &cli_owners, &cli_leaks,
	&cli_attach, &cli_run_program, &cli_guard,  &cli_dump,   &cli_detach,
	&cli_status, &cli_pause,       &cli_resume, &cli_reset,  &cli_rate,
	&cli_top,    &cli_serve,       &report,     &diff,       &cli_replay,
	&help};
#define COMMANDS (sizeof(commands) / sizeof(*commands))

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

static void print_command(const struct command *command, FILE *out)
{
	if (command->run == hi_analyzer_report) {
		fputs(hi_analyzer_report_help(), out);
		return;
	}
	fprintf(out, "Usage: heapinject %s %s\n\n%s", command->name, command->usage, command->text);
}

static void print_overview(FILE *out)
{
	fprintf(out,
		"heapinject %s - attach to a live process, sample its heap, leave it as it was "
		"found\n\n",
		HI_VERSION);
	fprintf(out, "Usage:\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  heapinject %-7s %s\n", commands[i]->name, commands[i]->usage);
	fprintf(out, "\nExample:\n"
		     "  heapinject check 1234\n"
		     "  heapinject attach 1234 --duration 120 -o /tmp/redis\n"
		     "  heapinject report /tmp/redis.1234.0001.heap --text\n"
		     "\nCommands:\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->help);
	fprintf(out, "\nInstead of PID, the name of a process will do, if only one has it.\n");
	fprintf(out, "\nExit codes: 0 ok, 1 failed, 2 usage, 3 the process cannot be attached to, "
		     "4 a report is above --fail-above or something grows,\n"
		     "5 that cannot be told, 23 run --fail-if-leaks found leaks; run: those of the "
		     "program, 126 and 127 if there is none to execute.\n"
		     "More: heapinject help COMMAND, man heapinject\n");
}

/* before: what the message begins with. Says which command may be meant: by its name, or report. */
static int no_command(const char *before, const char *name)
{
	struct hi_nearest nearest = {.typed = name, .size = strlen(name)};

	for (size_t i = 0; i < COMMANDS; i++)
		hi_nearest_look(&nearest, commands[i]->name);
	const bool is_option = name[0] == '-';
	/* -top is a view of report, and not the command of that name */
	if (is_option && name[1] != '-')
		nearest.name = NULL;
	if (!nearest.name && (is_option || (*name && access(name, R_OK) == 0)))
		nearest.name = "report";
	fprintf(stderr, "%s: no such command: %s%s%s%s; see `heapinject --help`\n", before, name,
		nearest.name ? " (did you mean `heapinject " : "", nearest.name ? nearest.name : "",
		nearest.name ? "`?)" : "");
	return HI_EXIT_USAGE;
}

static int run_help(int argc, char **argv)
{
	if (argc < 2) {
		print_overview(stdout);
		return HI_EXIT_OK;
	}
	const struct command *command = command_find(argv[1]);
	if (!command)
		return no_command("heapinject help", argv[1]);
	print_command(command, stdout);
	return HI_EXIT_OK;
}

int cli_run(int argc, char **argv)
{
	if (argc < 2) {
		print_overview(stderr);
		return HI_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return run_help(1, argv);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("heapinject %s\n", HI_VERSION);
		return HI_EXIT_OK;
	}
	const struct command *command = command_find(argv[1]);
	if (!command)
		return no_command("heapinject", argv[1]);
	if (argc > 2 && command->run != hi_analyzer_report &&
	    (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
		print_command(command, stdout);
		return HI_EXIT_OK;
	}
	return command->run(argc - 1, argv + 1);
}
