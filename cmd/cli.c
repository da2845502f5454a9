/* SPDX-License-Identifier: MIT */
/*
 * cli.c - parses and checks the command line, and runs the command. A new command is one line of
 * `commands` and one function.
 */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "hi_analyzer.h"
#include "hi_exit.h"
#include "hi_options.h"
#include "hi_units.h"
#include "hi_version.h"
#include "preflight.h"
#include "run.h"
#include "session.h"

#define DEFAULT_NS 60000000000u
#define DEFAULT_BUDGET_PPM 10000u
#define BUDGET_UNSET UINT32_MAX
#define LIVE_MAX_MAX (1u << 30)
#define KEEP_MAX 100000u
#define KEEP_DEFAULT 32u /* with triggers: they must not fill a disk */
#define KEEP_UNSET SIZE_MAX

/* of attach, which have no letter */
enum {
	OPTION_EVERY_ALLOC = 256,
	OPTION_AT_PEAK,
	OPTION_AT_RSS,
	OPTION_ON_SIGNAL,
	OPTION_DETACHED,
};

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage; /* text after the name */
	const char *help;  /* one line */
	const char *text;  /* options and the rest */
};

static int run_check(int argc, char **argv);
static int run_attach(int argc, char **argv);
static int run_run(int argc, char **argv);
static int run_ask(int argc, char **argv);
static int run_rate(int argc, char **argv);
static int run_detach(int argc, char **argv);
static int run_help(int argc, char **argv);
static int run_status(int argc, char **argv);

static const struct command commands[] = {
	{"check", run_check, "PID [--prefix NAME] [--json] [-v]",
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
	 "if not, why\n"},
	{"attach", run_attach,
	 "PID [-s TIME] [-c BYTES] [--every TIME] [--every-alloc BYTES] [--at-peak BYTES] "
	 "[--at-rss BYTES|PERCENT] [--on-signal SIG] [--keep COUNT] [--max-overhead SHARE] "
	 "[--live-max BLOCKS] [-o PREFIX] [--hook auto|entry|slot] [--prefix NAME] "
	 "[--loader "
	 "map|dlopen] [--until-sure] [--json] [--fail-if-grows] [--detached] [-q] [-v]",
	 "profile the heap of a live process",
	 "Samples the allocations of a running process, detaches, and leaves it as it was found.\n"
	 "Ends after TIME, at Ctrl-C or SIGTERM, at `heapinject detach PID`, or when the process "
	 "exits; each time the files are written.\n"
	 "\n"
	 "  -s, --duration TIME    how long: 120, 500ms, 1.5s, 2m, 1h30m (default 60s)\n"
	 "  -c, --sample BYTES     mean bytes between samples: 524288, 512K, 1M; 1 = every "
	 "allocation, exact;\n"
	 "                         auto (default): as many samples as --max-overhead allows\n"
	 "      --every TIME       write a profile of what there is so far each so often, besides "
	 "that of the end: 30s, 5m; their numbers\n"
	 "                         NNNN follow each other in time, the end has the last one\n"
	 "      --every-alloc BYTES  also each time that so much more was allocated: 1G\n"
	 "      --at-peak BYTES    also each time that what is in use exceeds the highest written "
	 "so far by so much: 64M\n"
	 "      --at-rss BYTES|PERCENT  also once, when the process first has more resident "
	 "memory: "
	 "4G, or 80% of its memory limit\n"
	 "      --on-signal SIG    also when heapinject, not the process, gets this signal: USR1, "
	 "USR2, RTMIN+3\n"
	 "      --keep COUNT, --max-kept COUNT  of all these, keep only the newest, older ones are "
	 "removed; all: remove none\n"
	 "                         (default: 32 with one of the options above, else all)\n"
	 "      --max-overhead SHARE  share of its CPU time, or a quarter of that share of one "
	 "CPU, that profiling may take: 1%, 0.2%, or off;\n"
	 "                         samples are taken so seldom that it is kept, and weighed by how "
	 "seldom (default 1%,\n"
	 "                         or off where --sample is a number)\n"
	 "      --live-max BLOCKS  how many sampled blocks may be live at a time: 50M (default "
	 "256K; exact: any number); memory for\n"
	 "                         them is reserved in the process, and used as needed: some 16 "
	 "bytes each\n"
	 "  -o, --output PREFIX    files are PREFIX.PID.NNNN.heap and .pb.gz (default "
	 "./heapinject);\n"
	 "                         in a directory, out/, they are called after the program;\n"
	 "                         - writes the record stream to standard output, for `heapinject "
	 "report -`\n"
	 "      --hook WHERE       entry: where the allocator's functions begin, the place that "
	 "all calls pass; slot: in the tables of addresses by\n"
	 "                         which programs and libraries call them, which leaves code "
	 "alone, but misses what kept an address;\n"
	 "                         auto (default): entry where that can be done safely, else slot\n"
	 "      --prefix NAME      also an allocator whose functions have this prefix: my_ for "
	 "my_malloc, my_free, ...; again for another\n"
	 "      --loader LOADER    map (default): no code of the process's libraries runs for us;\n"
	 "                         dlopen: debuggers see the payload by name, only at a proved "
	 "safe point\n"
	 "      --until-sure       end as soon as it is certain that something grows, at the "
	 "latest "
	 "after --duration\n"
	 "      --json             at the end, write what grows as one JSON object to standard "
	 "output, and all else to standard error\n"
	 "      --fail-if-grows    exit with 4 if something grows, or probably does, and with 5 if "
	 "that cannot be told\n"
	 "      --detached         return once it is attached, and print the pid of the session, "
	 "which goes on without a terminal;\n"
	 "                         its messages go to PREFIX.PID.NNNN.log\n"
	 "  -q, --quiet            no progress\n"
	 "  -v, --verbose          say what is done, and what grows whenever that changes\n"},
	{"run", run_run, "[OPTIONS of attach] [--] COMMAND [ARGUMENT...]",
	 "profile the heap of a program from its first instruction on",
	 "Starts the program, samples its allocations until it exits, shows what it never freed, "
	 "and "
	 "exits with its exit status.\n"
	 "Takes the options of attach (`heapinject help attach`), in front of the command, but not "
	 "-o - and --loader dlopen.\n"
	 "\n"
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
	 "executed; if it exits with 0, as attach does.\n"},
	{"dump", run_ask, "PID", "have the attach that is running write a profile now, and go on",
	 "Prints the names of the two files, once they are whole. What is in them is what the "
	 "session has seen so far.\n"},
	{"detach", run_detach, "PID",
	 "end the attach that is running, or clean up after one that was killed",
	 "A running session detaches, writes its files and ends. If its injector was killed, "
	 "everything that it left in the process is removed.\n"},
	{"status", run_status, "[PID] [--json]", "show the sessions that are running",
	 "Shows the session that is attached to PID, or all that you may ask: those of the same "
	 "user, of root all.\n"
	 "\n"
	 "      --json             one JSON object for scripts; heapinject(1) has its members\n"},
	{"pause", run_ask, "PID", "have the attach that is running sample nothing for a while",
	 "Frees are followed all the time. What is allocated until `heapinject resume PID` is not "
	 "in the profile, which says for how long that was so.\n"},
	{"resume", run_ask, "PID", "have it sample again", "Ends a pause.\n"},
	{"reset", run_ask, "PID", "have it forget what it has seen so far, and begin a new profile",
	 "The new profile is that of an attach that begins now: it knows nothing of the blocks "
	 "that were allocated before. Files that were written stay.\n"},
	{"rate", run_rate, "PID BYTES|auto", "change its sampling interval",
	 "BYTES is as in `heapinject attach --sample`: the nearest power of two times the finest "
	 "interval of the session is taken, and kept, whatever it costs.\n"
	 "auto: the interval follows --max-overhead again.\n"},
	{"report", hi_analyzer_report, "FILE|-... [VIEW] [-o OUT]",
	 "show profiles as text, graphs, flame graphs, other tools' formats", NULL},
	{"diff", hi_analyzer_report, "OLD NEW [VIEW] [-o OUT]",
	 "show what has changed from one profile to another", NULL},
	{"help", run_help, "[COMMAND]", "show this help, or that of a command", ""},
	{NULL, NULL, NULL, NULL, NULL},
};

static const struct command *command_find(const char *name)
{
	for (const struct command *command = commands; command->name; command++)
		if (!strcmp(command->name, name))
			return command;
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
	for (const struct command *command = commands; command->name; command++)
		fprintf(out, "  heapinject %-7s %s\n", command->name, command->usage);
	fprintf(out, "\nExample:\n"
		     "  heapinject check 1234\n"
		     "  heapinject attach 1234 --duration 120 -o /tmp/redis\n"
		     "  heapinject report /tmp/redis.1234.0001.heap --text\n"
		     "\nCommands:\n");
	for (const struct command *command = commands; command->name; command++)
		fprintf(out, "  %-8s %s\n", command->name, command->help);
	fprintf(out,
		"\nExit codes: 0 ok, 1 failed, 2 usage, 3 the process cannot be attached to, "
		"4 a report is above --fail-above or something grows,\n"
		"5 that cannot be told; run: those of the program, 126 and 127 if there is none to "
		"execute.\n"
		"More: heapinject help COMMAND, man heapinject\n");
}

/* Prints one line about the error, and one that says where to read on. */
static int usage_error(const char *command, const char *what, const char *value)
{
	fprintf(stderr, "heapinject %s: %s%s%s; see `heapinject help %s`\n", command, what,
		value ? ": " : "", value ? value : "", command);
	return HI_EXIT_USAGE;
}

/* code: as of hi_options_next() */
static int option_error(const char *command, int code, const struct hi_options *given)
{
	char complaint[HI_OPTION_COMPLAINT_MAX];

	return usage_error(command, hi_options_explain(given, code, complaint), NULL);
}

static int parse_pid(const char *command, const char *text, pid_t *out_pid)
{
	uint64_t value;
	const char *end;
	if (hi_parse_digits(text, &value, &end) || *end || !value || value > INT32_MAX)
		return usage_error(command, "not a process id", text);
	*out_pid = (pid_t)value;
	return HI_EXIT_OK;
}

/* Parses the only argument of a command, which must be argv[first]. */
static int parse_only_pid(int argc, char **argv, int first, pid_t *out_pid)
{
	if (argc <= first)
		return usage_error(argv[0], "which process? give its PID", NULL);
	if (argc > first + 1)
		return usage_error(argv[0], "one argument too many", argv[first + 1]);
	return parse_pid(argv[0], argv[first], out_pid);
}

/* argument: of --prefix */
static int parse_prefix(const char *command, const char *argument, struct hi_prefixes *prefixes)
{
	switch (hi_prefixes_add(prefixes, argument)) {
	case 0:
		return HI_EXIT_OK;
	case -ENOTSUP:
		return usage_error(command, "DPDK's functions take other arguments than malloc's",
				   argument);
	case -E2BIG:
		return usage_error(command, "one --prefix too many", argument);
	default:
		return usage_error(command,
				   "not a prefix of functions (my_; letters, digits and _, at most "
				   "31)",
				   argument);
	}
}

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
			return option_error("check", option, &given);
		if (option == 'j')
			out->json = !given.is_off;
		if (option == 'v')
			out->in_detail = !given.is_off;
		if (option == 'p' &&
		    parse_prefix("check", given.value, &out->prefixes) != HI_EXIT_OK)
			return HI_EXIT_USAGE;
	}
	return parse_only_pid(argc, argv, given.next, out_pid);
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
	preflight_explain(&preflight, line, sizeof(line));
	fprintf(stderr, "heapinject: %s\n", line);
	return HI_EXIT_REFUSED;
}

/* dump, pause, resume, reset: the request is the name of the command */
static int run_ask(int argc, char **argv)
{
	pid_t pid;
	int exit_code = parse_only_pid(argc, argv, 1, &pid);
	return exit_code == HI_EXIT_OK ? session_ask(pid, argv[0]) : exit_code;
}

static int run_detach(int argc, char **argv)
{
	pid_t pid;
	int exit_code = parse_only_pid(argc, argv, 1, &pid);
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
			return option_error("status", option, &given);
		json = !given.is_off;
	}
	const int exit_code =
		given.next < argc ? parse_only_pid(argc, argv, given.next, &pid) : HI_EXIT_OK;
	return exit_code == HI_EXIT_OK ? session_status(pid, json) : exit_code;
}

static int run_rate(int argc, char **argv)
{
	char request[64];
	uint64_t bytes;
	pid_t pid;
	if (argc < 3)
		return usage_error("rate",
				   argc < 2 ? "which process? give its PID"
					    : "which interval? give BYTES, or auto",
				   NULL);
	const char *rate = argv[2];
	if (argc > 3)
		return usage_error("rate", "one argument too many", argv[3]);
	if (parse_pid("rate", argv[1], &pid) != HI_EXIT_OK)
		return HI_EXIT_USAGE;
	if (strcmp(rate, "auto") != 0 && hi_parse_bytes(rate, &bytes))
		return usage_error("rate", "not a number of bytes (524288, 512K, 1M, auto)", rate);
	snprintf(request, sizeof(request), "rate %s", rate);
	return session_ask(pid, request);
}

/* attach or run: these take the same options */
static const char *session_command;

static int parse_keep(const char *text, size_t *out_keep)
{
	uint64_t value;
	const char *end;
	*out_keep = 0;
	if (!strcmp(text, "all"))
		return HI_EXIT_OK;
	if (hi_parse_digits(text, &value, &end) || *end || !value || value > KEEP_MAX)
		return usage_error(session_command,
				   "not a number of profiles to keep (10, all; at most 100000)",
				   text);
	*out_keep = (size_t)value;
	return HI_EXIT_OK;
}

static int parse_amount(const char *text, uint64_t *out_bytes)
{
	return hi_parse_bytes(text, out_bytes)
		       ? usage_error(session_command, "not a number of bytes (512K, 64M, 1G)", text)
		       : HI_EXIT_OK;
}

static int parse_hook(const char *text, enum hi_hook *out_hook)
{
	static const char *const names[] = {
		[HI_HOOK_AUTO] = "auto", [HI_HOOK_SLOT] = "slot", [HI_HOOK_ENTRY] = "entry"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i])) {
			*out_hook = (enum hi_hook)i;
			return HI_EXIT_OK;
		}
	return usage_error(session_command, "not a place to hook (auto, entry, slot)", text);
}

static int parse_attach_option(int option, const struct hi_options *given,
			       struct session_options *options)
{
	const char *value = given->value;

	switch (option) {
	case 's':
		return hi_parse_time(value, &options->duration_ns)
			       ? usage_error(session_command,
					     "not a time (120, 500ms, 1.5s, 1h30m)", value)
			       : HI_EXIT_OK;
	case 'c':
		options->interval = 0;
		return strcmp(value, "auto") != 0 && hi_parse_bytes(value, &options->interval)
			       ? usage_error(session_command,
					     "not a number of bytes (524288, 512K, 1M, auto)",
					     value)
			       : HI_EXIT_OK;
	case 'b':
		return hi_parse_bytes(value, &options->live_max) || options->live_max > LIVE_MAX_MAX
			       ? usage_error(session_command,
					     "not a number of blocks (1000000, 50M; at most 1G)",
					     value)
			       : HI_EXIT_OK;
	case 'e':
		return hi_parse_time(value, &options->triggers.every_ns)
			       ? usage_error(session_command, "not a time (30, 500ms, 1.5s, 1h30m)",
					     value)
			       : HI_EXIT_OK;
	case 'k':
		return parse_keep(value, &options->keep);
	case 'o':
		options->prefix = value;
		return *value ? HI_EXIT_OK
			      : usage_error(session_command, "the output prefix is empty", NULL);
	case 'l':
		if (strcmp(value, "map") != 0 && strcmp(value, "dlopen") != 0)
			return usage_error(session_command, "not a loader (map, dlopen)", value);
		options->loader = strcmp(value, "map") ? HI_LOADER_DLOPEN : HI_LOADER_MAP;
		return HI_EXIT_OK;
	case 'h':
		return parse_hook(value, &options->hook);
	case 'p':
		return parse_prefix(session_command, value, &options->prefixes);
	case 'm':
		options->budget_ppm = 0;
		return strcmp(value, "off") && hi_parse_percent(value, &options->budget_ppm)
			       ? usage_error(session_command, "not a share (1%, 0.2%, off)", value)
			       : HI_EXIT_OK;
	case 'j':
		options->json = !given->is_off;
		return HI_EXIT_OK;
	case 'u':
		options->until_sure = !given->is_off;
		return HI_EXIT_OK;
	case 'f':
		options->fail_if_grows = !given->is_off;
		return HI_EXIT_OK;
	case 'q':
		options->quiet = !given->is_off;
		return HI_EXIT_OK;
	case 'v':
		options->verbose = !given->is_off;
		return HI_EXIT_OK;
	case OPTION_DETACHED:
		options->detached = !given->is_off;
		return HI_EXIT_OK;
	case OPTION_EVERY_ALLOC:
		return parse_amount(value, &options->triggers.alloc_bytes);
	case OPTION_AT_PEAK:
		return parse_amount(value, &options->triggers.peak_bytes);
	case OPTION_AT_RSS:
		return triggers_parse_rss(value, &options->triggers)
			       ? usage_error(session_command,
					     "neither bytes nor a share (512M, 4G, 80%)", value)
			       : HI_EXIT_OK;
	case OPTION_ON_SIGNAL:
		return triggers_parse_signal(value, &options->triggers.signal)
			       ? usage_error(session_command,
					     "not a signal to ask by (USR1, USR2, RTMIN+0 to "
					     "RTMAX)",
					     value)
			       : HI_EXIT_OK;
	default:
		return option_error(session_command, option, given);
	}
}

/* Rejects options that contradict each other. */
static int check_attach_options(const struct session_options *options)
{
	const bool streams = !strcmp(options->prefix, "-");
	char duration[HI_UNITS_TEXT_MAX];
	if (streams && (triggers_are_any(&options->triggers) || options->keep != KEEP_UNSET))
		return usage_error(
			session_command,
			"the record stream (-o -) has no files for --every and --keep, nor "
			"for the other triggers",
			NULL);
	if (streams && (options->json || options->until_sure || options->fail_if_grows))
		return usage_error(session_command,
				   "the record stream (-o -) has no answer for --json, "
				   "--until-sure and --fail-if-grows",
				   NULL);
	if (options->detached && (streams || options->json || options->fail_if_grows))
		return usage_error(session_command,
				   "--detached returns before there is anything for -o -, --json "
				   "and --fail-if-grows",
				   NULL);
	if (options->triggers.every_ns < options->duration_ns || !options->triggers.every_ns ||
	    !options->duration_ns)
		return HI_EXIT_OK;
	return usage_error(session_command, "--every would come only after the end, which is at",
			   hi_format_time(options->duration_ns, duration, sizeof(duration)));
}

/* Reads them in front of words that are none; the first of those is argv[*out_next]. */
static int parse_session(int argc, char **argv, bool in_order, struct session_options *options,
			 int *out_next)
{
	static const struct option long_options[] = {
		{"duration", required_argument, NULL, 's'},
		{"sample", required_argument, NULL, 'c'},
		{"every", required_argument, NULL, 'e'},
		{"every-alloc", required_argument, NULL, OPTION_EVERY_ALLOC},
		{"at-peak", required_argument, NULL, OPTION_AT_PEAK},
		{"at-rss", required_argument, NULL, OPTION_AT_RSS},
		{"on-signal", required_argument, NULL, OPTION_ON_SIGNAL},
		{"keep", required_argument, NULL, 'k'},
		{"max-kept", required_argument, NULL, 'k'},
		{"output", required_argument, NULL, 'o'},
		{"hook", required_argument, NULL, 'h'},
		{"prefix", required_argument, NULL, 'p'},
		{"loader", required_argument, NULL, 'l'},
		{"max-overhead", required_argument, NULL, 'm'},
		{"live-max", required_argument, NULL, 'b'},
		{"until-sure", no_argument, NULL, 'u'},
		{"json", no_argument, NULL, 'j'},
		{"fail-if-grows", no_argument, NULL, 'f'},
		{"detached", no_argument, NULL, OPTION_DETACHED},
		{"quiet", no_argument, NULL, 'q'},
		{"verbose", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	struct hi_options given = {.argc = argc,
				   .argv = argv,
				   .known = long_options,
				   .letters = "s:c:o:qv",
				   .in_order = in_order,
				   .next = 1};
	session_command = argv[0];
	options->budget_ppm = BUDGET_UNSET;
	for (int option; (option = hi_options_next(&given)) != HI_OPTIONS_END;) {
		int exit_code = parse_attach_option(option, &given, options);
		if (exit_code != HI_EXIT_OK)
			return exit_code;
	}
	*out_next = given.next;
	return HI_EXIT_OK;
}

/*
 * If the user names a rate, it is used unchanged. Otherwise the rate adapts to the process.
 */
static void choose_rate(struct session_options *options)
{
	if (options->budget_ppm == BUDGET_UNSET)
		options->budget_ppm = options->interval ? 0 : DEFAULT_BUDGET_PPM;
	if (!options->interval && options->budget_ppm)
		options->interval_shift = HI_INTERVAL_AUTO_SHIFT;
	if (!options->interval)
		options->interval = options->budget_ppm ? HI_INTERVAL_EXACT : HI_INTERVAL_FIXED;
}

/* Profiles that nobody asked for one by one must not fill a disk. */
static void choose_keep(struct session_options *options)
{
	if (options->keep == KEEP_UNSET)
		options->keep = triggers_are_any(&options->triggers) ? KEEP_DEFAULT : 0;
}

static int run_attach(int argc, char **argv)
{
	struct session_options options = {
		.duration_ns = DEFAULT_NS, .keep = KEEP_UNSET, .prefix = "heapinject"};
	int next, exit_code = parse_session(argc, argv, false, &options, &next);
	if (exit_code == HI_EXIT_OK)
		exit_code = parse_only_pid(argc, argv, next, &options.pid);
	if (exit_code == HI_EXIT_OK)
		exit_code = check_attach_options(&options);
	choose_keep(&options);
	choose_rate(&options);
	return exit_code == HI_EXIT_OK ? session_attach(&options) : exit_code;
}

static int run_run(int argc, char **argv)
{
	struct session_options options = {.keep = KEEP_UNSET, .prefix = "./"};
	int next, exit_code = parse_session(argc, argv, true, &options, &next);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	if (next >= argc)
		return usage_error("run", "which program? give its command line", NULL);
	if (!strcmp(options.prefix, "-"))
		return usage_error("run", "standard output is the program's, and not for -o -",
				   NULL);
	if (options.detached)
		return usage_error("run", "it ends with the program, and is never --detached",
				   NULL);
	if (options.loader == HI_LOADER_DLOPEN)
		return usage_error("run", "before a program's start there is no dlopen", NULL);
	exit_code = check_attach_options(&options);
	choose_keep(&options);
	choose_rate(&options);
	return exit_code == HI_EXIT_OK ? run_program(&options, argv + next) : exit_code;
}

/* before: what the message begins with. Says which command may be meant: by its name, or report. */
static int no_command(const char *before, const char *name)
{
	struct hi_nearest nearest = {.typed = name, .size = strlen(name)};

	for (const struct command *command = commands; command->name; command++)
		hi_nearest_look(&nearest, command->name);
	if (!nearest.name && (name[0] == '-' || (*name && access(name, R_OK) == 0)))
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
