/* SPDX-License-Identifier: MIT */
/* cli_run.c - `heapinject run`. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_arguments.h"
#include "cli_command.h"
#include "cli_family.h"
#include "cli_session.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "hi_interval.h"
#include "run.h"

#define SUPPRESSIONS_BYTES_MAX (1u << 20)

enum {
	OPTION_FAIL_IF_LEAKS = CLI_MORE_OPTIONS,
	OPTION_SUPPRESSIONS,
};

struct given {
	struct cli_family family;
	bool finds_leaks;
	const char *suppressions; /* the file */
	char *text;               /* what is in it */
};

static int parse(void *context, int option, const char *value)
{
	struct given *given = context;

	if (option == OPTION_FAIL_IF_LEAKS)
		given->finds_leaks = !value || strcmp(value, CLI_OFF) != 0;
	else if (option == OPTION_SUPPRESSIONS)
		given->suppressions = value;
	else
		return cli_family_parse(&given->family, option, value);
	return HI_EXIT_OK;
}

/* ---- suppressions ---------------------------------------------------------------------------- */

/* The whole file, terminated; the caller frees it. NULL, and errno. */
static char *read_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = file ? calloc(1, SUPPRESSIONS_BYTES_MAX + 2) : NULL;

	if (text) {
		const size_t size = fread(text, 1, SUPPRESSIONS_BYTES_MAX + 1, file);

		errno = ferror(file) ? EIO : size > SUPPRESSIONS_BYTES_MAX ? EFBIG : 0;
		if (errno) {
			free(text);
			text = NULL;
		}
	}
	const int err = errno;
	if (file)
		fclose(file);
	errno = err;
	return text;
}

static int read_suppressions(const char *path, char **out_text)
{
	char *text = read_text(path), line[32];

	if (!text)
		return cli_usage_error("run", strerror(errno), path);
	const size_t bad = hi_analyzer_check_suppressions(text);
	snprintf(line, sizeof(line), "%zu", bad);
	if (bad) {
		free(text);
		return cli_usage_error("run",
				       "neither leak:NAME nor a comment (#) is this line of the "
				       "suppressions, or there are more than 250",
				       line);
	}
	*out_text = text;
	return HI_EXIT_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* To know what refers to what, all blocks have to be known, from the first to the exit. */
static int check_leaks(const struct session_options *options)
{
	if (options->stream_path)
		return cli_usage_error(
			"run",
			"the record stream has no answer for --fail-if-leaks: not with "
			"--stream",
			NULL);
	if (options->interval > HI_INTERVAL_EXACT)
		return cli_usage_error(
			"run", "--fail-if-leaks needs every allocation: not with --sample", NULL);
	if (options->hook == HI_HOOK_SLOT)
		return cli_usage_error("run",
				       "--fail-if-leaks needs every allocation, and not all pass "
				       "a slot: not with --hook slot",
				       NULL);
	if (options->duration_ns || options->until_sure)
		return cli_usage_error("run",
				       "--fail-if-leaks is about the program's exit: not with "
				       "--duration and --until-sure",
				       NULL);
	return HI_EXIT_OK;
}

static int check(const struct session_options *options)
{
	if (!strcmp(options->prefix, "-"))
		return cli_usage_error("run",
				       "standard output is the program's, and not for -o -; "
				       "--stream FILE takes the records",
				       NULL);
	if (options->detached)
		return cli_usage_error("run", "it ends with the program, and is never --detached",
				       NULL);
	if (options->loader == HI_LOADER_DLOPEN)
		return cli_usage_error("run", "before a program's start there is no dlopen", NULL);
	return options->finds_leaks ? check_leaks(options) : HI_EXIT_OK;
}

static int check_family(const struct given *given, const struct session_options *options)
{
	if (given->finds_leaks)
		return cli_usage_error("run",
				       "--fail-if-leaks is about one program: not with "
				       "--follow-fork",
				       NULL);
	return cli_family_check(&given->family, options);
}

static int complete(struct given *given, struct session_options *options)
{
	options->finds_leaks = given->finds_leaks;
	int exit_code = check(options);
	if (exit_code == HI_EXIT_OK && cli_family_is_given(&given->family))
		exit_code = check_family(given, options);
	if (exit_code == HI_EXIT_OK && given->suppressions && !given->finds_leaks)
		exit_code = cli_usage_error("run", "--suppressions is for --fail-if-leaks", NULL);
	if (exit_code == HI_EXIT_OK && given->suppressions)
		exit_code = read_suppressions(given->suppressions, &given->text);
	options->suppressions = given->text;
	if (given->finds_leaks)
		options->interval = HI_INTERVAL_EXACT;
	if (exit_code == HI_EXIT_OK)
		exit_code = cli_session_complete(options);
	if (exit_code == HI_EXIT_OK && given->finds_leaks &&
	    (options->budget_ppm || options->live_max))
		exit_code = cli_usage_error("run",
					    "--fail-if-leaks needs every allocation: not with "
					    "--max-overhead and --live-max",
					    NULL);
	return exit_code;
}

static int run_run(int argc, char **argv)
{
	static const struct option more[] = {
		{"fail-if-leaks", no_argument, NULL, OPTION_FAIL_IF_LEAKS},
		{"suppressions", required_argument, NULL, OPTION_SUPPRESSIONS},
		CLI_FAMILY_FORK_OPTION_LIST,
		{NULL, 0, NULL, 0}};
	struct session_options options = cli_session_defaults();
	struct given given = {.family.command = "run"};
	const struct cli_more_options others = {more, parse, &given};
	int next;

	options.duration_ns = 0;
	options.prefix = "./";
	int exit_code = cli_session_parse(argc, argv, true, &others, &options, &next);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	if (next >= argc)
		return cli_usage_error("run", "which program? give its command line", NULL);
	exit_code = complete(&given, &options);
	if (exit_code == HI_EXIT_OK)
		exit_code = given.family.follows_fork
				    ? cli_family_run(&given.family, &options, argv + next)
				    : run_program(&options, argv + next);
	free(given.text);
	return exit_code;
}

const struct command cli_run_program = {
	"run", run_run,
	"[--fail-if-leaks [--suppressions FILE]] [--follow-fork [--max-children N]] [OPTIONS of "
	"attach] [--] COMMAND [ARGUMENT...]",
	"profile the heap of a program from its first instruction on",
	"Starts the program, samples its allocations until it exits, shows what it never freed, "
	"and "
	"exits with its exit status.\n"
	"Takes the options of attach (`heapinject help attach`), in front of the command, but not "
	"-o - and --loader dlopen.\n"
	"\n"
	"      --fail-if-leaks    show which blocks nothing refers to at its exit, and exit with "
	"23 "
	"if there are some, with 5 if that cannot be told,\n"
	"                         unless the program itself fails; takes every allocation "
	"(--sample 1), and traces the program meanwhile\n"
	"      --suppressions FILE  leave out leaks that a line of the file names, as of "
	"LeakSanitizer: leak:NAME, of a function, a source file\n"
	"                         or a library\n"
	"      --follow-fork      also a session of each child that it forks without executing "
	"another program, and of theirs: workers of\n"
	"                         gunicorn, php-fpm, postgres; waits for the ends of all, and "
	"prints what they come to together\n"
	"      --max-children N   of so many at a time (default 64)\n"
	"  -s, --duration TIME    detach after that time (default: at the program's exit); the "
	"program goes on\n"
	"  -o, --output PREFIX    files are PREFIX.PID.NNNN.heap and .pb.gz (default: the "
	"program's "
	"name, here)\n"
	"\n"
	"All of heapinject's own messages go to standard error; only the object of --json comes "
	"to "
	"standard output, after the program's exit.\n"
	"SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on to the program. "
	"`heapinject detach PID` ends the session, and\n"
	"the program goes on. Exits with 128 + N if signal N ended the program, with 127 if it is "
	"not found and with 126 if it cannot be\n"
	"executed; if it exits with 0, as attach does.\n"};
