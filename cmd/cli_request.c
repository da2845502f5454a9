/* SPDX-License-Identifier: MIT */
/* cli_request.c - the commands that ask running sessions for something. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli_arguments.h"
#include "cli_choice.h"
#include "cli_command.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "session.h"

/* pause, resume, reset: the request is the name of the command */
static int run_ask(int argc, char **argv)
{
	pid_t pid;
	int exit_code = cli_choose_only_process(argc, argv, 1, &pid);
	return exit_code == HI_EXIT_OK ? session_ask(pid, argv[0]) : exit_code;
}

static int run_dump(int argc, char **argv)
{
	static const struct option long_options[] = {{"output", required_argument, NULL, 'o'},
						     {NULL, 0, NULL, 0}};
	struct hi_options given = {
		.argc = argc, .argv = argv, .known = long_options, .letters = "o:", .next = 1};
	bool is_shown = false;
	pid_t pid;
	for (int option; (option = hi_options_next(&given)) != HI_OPTIONS_END;) {
		if (option != 'o')
			return cli_option_error("dump", option, &given);
		if (strcmp(given.value, "-") != 0)
			return cli_usage_error("dump",
					       "the session chooses the names of its files; only "
					       "-o - is possible, standard output",
					       given.value);
		is_shown = true;
	}
	const int exit_code = cli_choose_only_process(argc, argv, given.next, &pid);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	return is_shown ? session_show(pid) : session_ask(pid, "dump");
}

static int run_detach(int argc, char **argv)
{
	pid_t pid;
	int exit_code = cli_choose_only_process(argc, argv, 1, &pid);
	return exit_code == HI_EXIT_OK ? session_detach(pid) : exit_code;
}

static int run_status(int argc, char **argv)
{
	static const struct option long_options[] = {{"json", no_argument, NULL, 'j'},
						     {NULL, 0, NULL, 0}};
	struct hi_options given = {
		.argc = argc, .argv = argv, .known = long_options, .letters = "", .next = 1};
	pid_t pid = 0;
	bool json = false;
	for (int option; (option = hi_options_next(&given)) != HI_OPTIONS_END;) {
		if (option != 'j')
			return cli_option_error("status", option, &given);
		json = !given.is_off;
	}
	const int exit_code = given.next < argc
				      ? cli_choose_only_process(argc, argv, given.next, &pid)
				      : HI_EXIT_OK;
	return exit_code == HI_EXIT_OK ? session_status(pid, json) : exit_code;
}

static int run_rate(int argc, char **argv)
{
	char request[64];
	uint64_t bytes;
	pid_t pid;
	if (argc < 3)
		return cli_usage_error("rate",
				       argc < 2 ? "which process? give its PID"
						: "which interval? give BYTES, or auto",
				       NULL);
	const char *rate = argv[2];
	if (argc > 3)
		return cli_usage_error("rate", "one argument too many", argv[3]);
	if (strcmp(rate, "auto") != 0 && hi_parse_bytes(rate, &bytes))
		return cli_usage_error("rate", "not a number of bytes (524288, 512K, 1M, auto)",
				       rate);
	const int exit_code = cli_choose_process("rate", argv[1], &pid);
	snprintf(request, sizeof(request), "rate %s", rate);
	return exit_code == HI_EXIT_OK ? session_ask(pid, request) : exit_code;
}

const struct command cli_dump = {
	"dump", run_dump, "PID [-o -]",
	"have the attach that is running write a profile now, and go on",
	"Prints the names of the two files, once they are whole. What is in them is what the "
	"session has seen so far.\n"
	"\n"
	"  -o, --output -     no file: the profile (.heap) goes to standard output, for "
	"`heapinject "
	"report -`\n"};

const struct command cli_detach = {
	"detach", run_detach, "PID",
	"end the attach that is running, or clean up after one that was killed",
	"A running session detaches, writes its files and ends. If its injector was killed, "
	"everything that it left in the process is removed.\n"};

const struct command cli_status = {
	"status", run_status, "[PID] [--json]", "show the sessions that are running",
	"Shows the session that is attached to PID, or all that you may ask: those of the same "
	"user, of root all.\n"
	"\n"
	"      --json             one JSON object for scripts; heapinject(1) has its members\n"};

const struct command cli_pause = {
	"pause", run_ask, "PID", "have the attach that is running sample nothing for a while",
	"Frees are followed all the time. What is allocated until `heapinject resume PID` is not "
	"in the profile, which says for how long that was so.\n"};

const struct command cli_resume = {"resume", run_ask, "PID", "have it sample again",
				   "Ends a pause.\n"};

const struct command cli_reset = {
	"reset", run_ask, "PID", "have it forget what it has seen so far, and begin a new profile",
	"The new profile is that of an attach that begins now: it knows nothing of the blocks "
	"that were allocated before. Files that were written stay.\n"};

const struct command cli_rate = {
	"rate", run_rate, "PID BYTES|auto", "change its sampling interval",
	"BYTES is as in `heapinject attach --sample`: the nearest power of two times the finest "
	"interval of the session is taken, and kept, whatever it costs.\n"
	"auto: the interval follows --max-overhead again.\n"};
