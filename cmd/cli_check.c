/* SPDX-License-Identifier: MIT */
/* cli_check.c - `heapinject check`. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli_arguments.h"
#include "cli_choice.h"
#include "cli_command.h"
#include "hi_exit.h"
#include "preflight.h"

struct check_options {
	bool json, in_detail;
	struct hi_prefixes prefixes;
};

/* Parses options anywhere among the arguments, and the pid as the only other argument. */
static int parse_check(int argc, char **argv, struct check_options *out, pid_t *out_pid)
{
	static const struct option long_options[] = {{"json", no_argument, NULL, 'j'},
						     {"verbose", no_argument, NULL, 'v'},
						     {"prefix", required_argument, NULL, 'p'},
						     {NULL, 0, NULL, 0}};
	struct hi_options given = {
		.argc = argc, .argv = argv, .known = long_options, .letters = "v", .next = 1};
	for (int option; (option = hi_options_next(&given)) != HI_OPTIONS_END;) {
		if (option != 'j' && option != 'v' && option != 'p')
			return cli_option_error("check", option, &given);
		if (option == 'j')
			out->json = !given.is_off;
		if (option == 'v')
			out->in_detail = !given.is_off;
		if (option == 'p' &&
		    cli_parse_prefix("check", given.value, &out->prefixes) != HI_EXIT_OK)
			return HI_EXIT_USAGE;
	}
	return cli_choose_only_process(argc, argv, given.next, out_pid);
}

static int run_check(int argc, char **argv)
{
	static struct preflight preflight;
	pid_t pid;
	struct check_options options = {0};
	int exit_code = parse_check(argc, argv, &options, &pid);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	int err = preflight_run(pid, NULL, &options.prefixes, &preflight, NULL);
	if (err) {
		fprintf(stderr, "heapinject: cannot look at process %d: %s\n", (int)pid,
			strerror(-err));
		return HI_EXIT_FAILED;
	}
	if (options.json)
		preflight_print_json(stdout, &preflight);
	else if (preflight.verdict == PREFLIGHT_OK)
		preflight_print(stdout, &preflight, options.in_detail);
	if (options.json || preflight.verdict == PREFLIGHT_OK)
		return preflight.verdict == PREFLIGHT_OK ? HI_EXIT_OK : HI_EXIT_REFUSED;
	char line[512];
	preflight_explain(&preflight, "attach to", line, sizeof(line));
	fprintf(stderr, "heapinject: %s\n", line);
	return HI_EXIT_REFUSED;
}

const struct command cli_check = {
	"check", run_check, "PID [--prefix NAME] [--json] [-v]",
	"tell whether attach will work, without touching the process",
	"Prints the facts about the process, or the reason why it cannot be attached to and the "
	"remedy.\n"
	"\n"
	"      --prefix NAME      an allocator whose functions have this prefix: my_ for "
	"my_malloc, "
	"my_free, ...; again for another\n"
	"      --json             one JSON object for scripts, whatever the answer; heapinject(1) "
	"has its members\n"
	"  -v, --verbose          each function of the allocators: whether it is hooked, how, and "
	"if not, why\n"};
