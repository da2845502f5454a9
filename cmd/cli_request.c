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
#include "plain_text.h"
#include "session.h"

enum { OPTION_ALL = CLI_MORE_OPTIONS };

/* Of all of them. */
#define REQUEST_OPTION_LIST                          \
	CLI_CHOICE_OPTION_LIST,                      \
	{                                            \
		"all", no_argument, NULL, OPTION_ALL \
	}

struct asked {
	const char *command; /* also the request, but of dump -o - and detach */
	struct choice choice;
	pid_t pid; /* 0 = not given */
	bool all, json, is_shown;
};

typedef int asking(const struct asked *asked, pid_t pid, struct session_one *one);

/* ---- what is given --------------------------------------------------------------------------- */

static int parse_option(int option, const struct hi_options *given, struct asked *asked)
{
	switch (option) {
	case OPTION_ALL:
		asked->all = !given->is_off;
		return HI_EXIT_OK;
	case 'j':
		asked->json = !given->is_off;
		return HI_EXIT_OK;
	case 'o':
		asked->is_shown = true;
		return strcmp(given->value, "-") != 0
			       ? cli_usage_error("dump",
						 "the session chooses the names of its files; only "
						 "-o - is possible, standard output",
						 given->value)
			       : HI_EXIT_OK;
	case CLI_CHOICE_NAME:
	case CLI_CHOICE_CGROUP:
	case CLI_CHOICE_UNIT:
	case CLI_CHOICE_PORT:
		return cli_choice_parse(asked->command, option, given->value, &asked->choice);
	default:
		return cli_option_error(asked->command, option, given);
	}
}

/* needs_process: or all sessions are meant. */
static int parse(struct hi_options *given, bool needs_process, struct asked *out_asked)
{
	*out_asked = (struct asked){.command = given->argv[0]};
	for (int option; (option = hi_options_next(given)) != HI_OPTIONS_END;) {
		const int exit_code = parse_option(option, given, out_asked);

		if (exit_code != HI_EXIT_OK)
			return exit_code;
	}
	int exit_code = HI_EXIT_OK;
	if (needs_process || given->next < given->argc || choice_is_given(&out_asked->choice))
		exit_code = cli_choice_complete(given->argc, given->argv, given->next,
						&out_asked->choice, &out_asked->pid);
	return exit_code == HI_EXIT_OK ? cli_choice_check_all(out_asked->command,
							      &out_asked->choice, out_asked->all)
				       : exit_code;
}

/* ---- one process, or several ----------------------------------------------------------------- */

/* Returns an exit code; one that has ended meanwhile has no session, and that is no failure. */
static int ask_one_of(const struct asked *asked, const struct process_found *process, asking *ask,
		      bool *out_has_none)
{
	char comm[sizeof(process->comm)], title[64];
	struct session_one one = {.title = title};

	plain_text_copy(comm, sizeof(comm), process->comm);
	snprintf(title, sizeof(title), "%d %s", (int)process->pid, comm);
	if (!process_found_is_there(process))
		one.has_none = true;
	const int exit_code = one.has_none ? HI_EXIT_OK : ask(asked, process->pid, &one);
	fflush(stdout);
	*out_has_none = one.has_none;
	return process_found_is_there(process) ? exit_code : HI_EXIT_OK;
}

static void explain_none(const struct asked *asked, size_t none, size_t count)
{
	char wanted[CHOICE_TEXT_MAX];

	fprintf(stderr, "heapinject: no session in %zu of %zu process%s %s\n", none, count,
		count == 1 ? "" : "es", choice_describe(&asked->choice, wanted));
}

/* The exit code is that of the first that failed, and a failure if none has a session. */
static int ask_all(const struct asked *asked, asking *ask)
{
	struct processes_found found;
	size_t none = 0;
	int exit_code = cli_choose_all(asked->command, &asked->choice, &found);

	if (exit_code != HI_EXIT_OK)
		return exit_code;
	for (size_t i = 0; i < found.count; i++) {
		bool has_none;
		const int code = ask_one_of(asked, &found.process[i], ask, &has_none);

		none += has_none;
		if (exit_code == HI_EXIT_OK)
			exit_code = code;
	}
	if (none)
		explain_none(asked, none, found.count);
	if (exit_code == HI_EXIT_OK && none == found.count)
		exit_code = HI_EXIT_FAILED;
	processes_found_close(&found);
	return exit_code;
}

static int ask_for(struct asked *asked, asking *ask)
{
	int exit_code = HI_EXIT_OK;

	if (asked->all)
		return ask_all(asked, ask);
	if (choice_is_given(&asked->choice))
		exit_code = cli_choose_one(asked->command, &asked->choice, &asked->pid);
	return exit_code == HI_EXIT_OK ? ask(asked, asked->pid, NULL) : exit_code;
}

/* ---- the commands ---------------------------------------------------------------------------- */

static const struct option request_options[] = {REQUEST_OPTION_LIST, {NULL, 0, NULL, 0}};

/* pause, resume, reset */
static int ask(const struct asked *asked, pid_t pid, struct session_one *one)
{
	return session_ask(pid, asked->command, one);
}

static int run_ask(int argc, char **argv)
{
	struct hi_options given = {
		.argc = argc, .argv = argv, .known = request_options, .letters = "", .next = 1};
	struct asked asked;
	const int exit_code = parse(&given, true, &asked);

	return exit_code == HI_EXIT_OK ? ask_for(&asked, ask) : exit_code;
}

/* The names of the files have the pids. */
static int dump(const struct asked *asked, pid_t pid, struct session_one *one)
{
	if (one)
		one->title = NULL;
	return asked->is_shown ? session_show(pid) : session_ask(pid, "dump", one);
}

static int run_dump(int argc, char **argv)
{
	static const struct option known[] = {
		REQUEST_OPTION_LIST, {"output", required_argument, NULL, 'o'}, {NULL, 0, NULL, 0}};
	struct hi_options given = {
		.argc = argc, .argv = argv, .known = known, .letters = "o:", .next = 1};
	struct asked asked;
	const int exit_code = parse(&given, true, &asked);

	if (exit_code == HI_EXIT_OK && asked.is_shown && asked.all)
		return cli_usage_error("dump", "-o - is of one process: not with --all", NULL);
	return exit_code == HI_EXIT_OK ? ask_for(&asked, dump) : exit_code;
}

static int end(const struct asked *asked, pid_t pid, struct session_one *one)
{
	(void)asked;
	return session_detach(pid, one);
}

static int run_detach(int argc, char **argv)
{
	struct hi_options given = {
		.argc = argc, .argv = argv, .known = request_options, .letters = "", .next = 1};
	struct asked asked;
	const int exit_code = parse(&given, true, &asked);

	return exit_code == HI_EXIT_OK ? ask_for(&asked, end) : exit_code;
}

static int show_status(const struct asked *asked, pid_t pid, struct session_one *one)
{
	(void)one;
	return session_status(pid, asked->json);
}

static int run_status(int argc, char **argv)
{
	static const struct option known[] = {
		REQUEST_OPTION_LIST, {"json", no_argument, NULL, 'j'}, {NULL, 0, NULL, 0}};
	struct hi_options given = {
		.argc = argc, .argv = argv, .known = known, .letters = "", .next = 1};
	struct processes_found found;
	struct asked asked;
	int exit_code = parse(&given, false, &asked);

	if (exit_code != HI_EXIT_OK || !asked.all)
		return exit_code == HI_EXIT_OK ? ask_for(&asked, show_status) : exit_code;
	exit_code = cli_choose_all("status", &asked.choice, &found);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	exit_code = session_status_of(&found, asked.json);
	processes_found_close(&found);
	return exit_code;
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
	return exit_code == HI_EXIT_OK ? session_ask(pid, request, NULL) : exit_code;
}

#define ALL_HELP                                                                               \
	"      --name NAME        the process of this name, or of this executable; also NAME " \
	"alone\n"                                                                              \
	"      --cgroup PATH      of this cgroup or one below it\n"                            \
	"      --unit NAME        of this unit of systemd\n"                                   \
	"      --port N           that listens on this TCP port\n"                             \
	"      --all              each process that has it; those without a session are "      \
	"passed over\n"

const struct command cli_dump = {
	"dump", run_dump, "PID|NAME [--all] [-o -]",
	"have the attach that is running write a profile now, and go on",
	"Prints the names of the two files, once they are whole. What is in them is what "
	"the "
	"session has seen so far.\n"
	"\n" ALL_HELP
	"  -o, --output -     no file: the profile (.heap) goes to standard output, for "
	"`heapinject "
	"report -`\n"};

const struct command cli_detach = {
	"detach", run_detach, "PID|NAME [--all]",
	"end the attach that is running, or clean up after one that was killed",
	"A running session detaches, writes its files and ends. If its injector was killed, "
	"everything that it left in the process is removed.\n"
	"\n" ALL_HELP};

const struct command cli_status = {
	"status", run_status, "[PID|NAME [--all]] [--json]", "show the sessions that are running",
	"Shows the session that is attached to PID, or all that you may ask: those of the same "
	"user, of root all.\n"
	"\n" ALL_HELP
	"      --json             one JSON object for scripts; heapinject(1) has its members\n"};

const struct command cli_pause = {
	"pause", run_ask, "PID|NAME [--all]",
	"have the attach that is running sample nothing for a while",
	"Frees are followed all the time. What is allocated until `heapinject resume PID` is not "
	"in the profile, which says for how long that was so.\n"
	"\n" ALL_HELP};

const struct command cli_resume = {"resume", run_ask, "PID|NAME [--all]", "have it sample again",
				   "Ends a pause.\n"
				   "\n" ALL_HELP};

const struct command cli_reset = {
	"reset", run_ask, "PID|NAME [--all]",
	"have it forget what it has seen so far, and begin a new profile",
	"The new profile is that of an attach that begins now: it knows nothing of the blocks "
	"that were allocated before. Files that were written stay.\n"
	"\n" ALL_HELP};

const struct command cli_rate = {
	"rate", run_rate, "PID BYTES|auto", "change its sampling interval",
	"BYTES is as in `heapinject attach --sample`: the nearest power of two times the finest "
	"interval of the session is taken, and kept, whatever it costs.\n"
	"auto: the interval follows --max-overhead again.\n"};
