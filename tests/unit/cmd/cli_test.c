/* SPDX-License-Identifier: MIT */
/*
 * cli: command lines, right and wrong. Each runs in a child with its output captured; what passes
 * the parser ends at a process that does not exist.
 */
#include "cli.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "hi_exit.h"
#include "hi_version.h"
#include "unit.h"

#define ARGUMENTS_MAX 16
#define NOBODY "2147483646" /* more than the kernel ever gives (PID_MAX_LIMIT is 2^22) */

struct ran {
	int exit_code;
	char out[16384], err[16384];
};

static void read_back(int file, char *text, size_t size)
{
	const ssize_t got = pread(file, text, size - 1, 0);
	CHECK(got >= 0);
	text[got] = 0;
	close(file);
}

/* command: the words behind `heapinject`, separated by blanks; "''" is the empty one. */
static const struct ran *run(const char *command)
{
	static struct ran ran;
	static char name[] = "heapinject", none[] = "";
	char copy[512], *argv[ARGUMENTS_MAX] = {name}, *rest = NULL;
	int argc = 1, status, out = memfd_create("out", 0), err = memfd_create("err", 0);
	snprintf(copy, sizeof(copy), "%s", command);
	for (char *word = strtok_r(copy, " ", &rest); word && argc < ARGUMENTS_MAX - 1;
	     word = strtok_r(NULL, " ", &rest))
		argv[argc++] = strcmp(word, "''") ? word : none;
	fflush(NULL);
	const pid_t child = fork();
	if (child == 0) {
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		const int exit_code = cli_run(argc, argv);
		fflush(NULL);
		_exit(exit_code);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	ran.exit_code = WEXITSTATUS(status);
	read_back(out, ran.out, sizeof(ran.out));
	read_back(err, ran.err, sizeof(ran.err));
	return &ran;
}

/* One line, whole, and nothing on standard output. */
static void check_error(const char *command, int exit_code, const char *line)
{
	const struct ran *ran = run(command);
	const char *end = strchr(ran->err, '\n');
	if (ran->exit_code != exit_code || ran->out[0] || !end || end[1] || !strstr(ran->err, line))
		UNIT_FAIL("heapinject %s: exit code %d, stderr: %s stdout: %s (expected %d, one "
			  "line with: %s)",
			  command, ran->exit_code, ran->err, ran->out, exit_code, line);
}

UNIT_TEST(wrong_command_lines_are_usage_errors_of_one_line)
{
	static const struct {
		const char *command, *line;
	} cases[] = {
		{"frobnicate", "no such command: frobnicate"},
		{"''", "no such command"},
		{"--frobnicate", "no such command: --frobnicate"},
		{"check", "which process?"},
		{"check 1 2", "one argument too many: 2"},
		{"check --prefix 1 2", "not a prefix of functions"},
		{"check 1 --prefix", "an option lacks its value: --prefix"},
		{"attach 1 --prefix my-", "letters, digits and _, at most 31): my-"},
		{"attach 1 --prefix rte_", "take other arguments than malloc's: rte_"},
		{"attach 1 --alloc-fn ngx_palloc", "that is the size is missing (NAME:SIZE[:PTR]"},
		{"run --alloc-fn ngx_palloc:7 true", "arguments have the numbers 1 to 6"},
		{"attach 1 --alloc-fn f:1 --free-fn f:1", "this function was named before"},
		{"attach 1 --free-fn f", "that is freed is missing (NAME:PTR or NAME:@POOL, as"},
		{"check 0", "not a process id: 0"},
		{"check -1", "unknown option: -1"},
		{"check --json", "which process?"},
		{"check 1 --jason", "unknown option: --jason (did you mean --json?); see"},
		{"check 1 --js", "unknown option: --js (did you mean --json?)"},
		{"check 1 -prefxi x", "unknown option: -prefxi (did you mean -prefix?)"},
		{"atach 1", "no such command: atach (did you mean `heapinject attach`?); see"},
		{"help atach", "no such command: atach (did you mean `heapinject attach`?); see"},
		{"-top f", "no such command: -top (did you mean `heapinject report`?); see"},
		{"check --json=maybe 1", "neither true nor false: --json=maybe"},
		{"check ''", "not a process id"},
		{"check 99999999999999999999999", "not a process id"},
		{"check 4294967297", "not a process id"},
		{"detach", "which process?"},
		{"detach 1 1", "one argument too many"},
		{"attach", "which process?"},
		{"attach 1 2", "one argument too many: 2"},
		{"attach 1 -s", "an option lacks its value: -s"},
		{"attach 1 --duration", "an option lacks its value: --duration"},
		{"attach -s 0 1", "not a time (120, 500ms, 1.5s, 1h30m): 0"},
		{"attach -s 10d 1", "not a time"},
		{"attach -s -5 1", "not a time"},
		{"attach -s 99999999999999999999h 1", "not a time"},
		{"attach --duration=soon 1", "not a time (120, 500ms, 1.5s, 1h30m): soon"},
		{"attach -c 0 1", "not a number of bytes"},
		{"attach -c 512X 1", "not a number of bytes"},
		{"attach --max-overhead 0 1", "not a share"},
		{"attach --max-overhead 200% 1", "not a share"},
		{"attach --sample 1.5M 1",
		 "not a number of bytes (524288, 512K, 1M, auto; at most 1024G): 1.5M"},
		{"attach -c 1025G 1", "at most 1024G): 1025G"},
		{"run -c 18446744073709551615 true", "at most 1024G): 18446744073709551615"},
		{"attach -o '' 1", "the output prefix is empty"},
		{"attach --live-max many 1", "not a number of blocks"},
		{"attach --live-max 2G 1", "not a number of blocks"},
		{"attach --loader gdb 1", "not a loader (map, dlopen): gdb"},
		{"attach --loader '' 1", "not a loader"},
		{"attach -x 1", "unknown option: -x"},
		{"attach -qx 1", "unknown option: -qx"},
		{"attach -xq 1", "unknown option: -xq"},
		{"attach -output.x 1", "unknown option: -output.x"},
		{"attach -ox 1", "unknown option: -ox (did you mean -o x?)"},
		{"attach --dur 5 1", "unknown option: --dur (did you mean --duration?)"},
		{"attach --every soon 1", "not a time (30, 500ms, 1.5s, 1h30m): soon"},
		{"attach --every 0 1", "not a time"},
		{"attach --every 60 1",
		 "--every would come only after the end, which is at: 1m00s; see"},
		{"attach --every 1s -s 500ms 1",
		 "--every would come only after the end, which is at: 500.00ms; see"},
		{"attach --every 5m -s 4m 1",
		 "--every would come only after the end, which is at: 4m00s"},
		{"attach --every 5s -o - 1",
		 "the record stream (-o -, --stream) has no files for --every and --keep, nor"},
		{"attach --keep 5 -o - 1", "the record stream (-o -, --stream) has no files"},
		{"attach --keep 0 1", "not a number of profiles to keep"},
		{"attach --keep 1K 1", "not a number of profiles to keep"},
		{"attach --keep 100001 1", "not a number of profiles to keep"},
		{"run", "which program? give its command line"},
		{"run -q --", "which program?"},
		{"run -s soon true", "heapinject run: not a time"},
		{"run -o - true", "standard output is the program's"},
		{"run --loader dlopen true", "before a program's start there is no dlopen"},
		{"run --every 5s -s 2s true", "--every would come only after the end"},
		{"run --fast true", "unknown option: --fast"},
		{"attach --max-kept 0 1", "not a number of profiles to keep (10, all; "},
		{"attach --every-alloc 0 1", "not a number of bytes (512K, 64M, 1G): 0"},
		{"attach --at-peak much 1", "not a number of bytes (512K, 64M, 1G): much"},
		{"attach --at-rss 120% 1", "neither bytes nor a share (512M, 4G, 80%): 120%"},
		{"attach --on-signal TERM 1", "not a signal to ask by (USR1, USR2"},
		{"attach --on-signal USR1 -o - 1", "nor for the other triggers"},
		{"attach --detached --json 1", "--detached returns before there is anything"},
		{"attach --detached -o - 1", "--detached returns before there is anything"},
		{"guard", "which process?"},
		{"guard 1 2", "one argument too many: 2"},
		{"guard --at 70 --at 512M 1", "not shares of the limit (70%,80%,90%): 512M"},
		{"guard --at 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17 1", "more than 16 shares"},
		{"guard --from 0% 1", "not a share of the limit (50%): 0%"},
		{"guard --from 70% 1", "--from must be below the first share"},
		{"guard --cgroup a 1", "a process besides --cgroup or --unit: 1"},
		{"guard --cgroup a --unit b", "--cgroup or --unit, not both"},
		{"guard --cgroup ''", "a name is empty"},
		{"guard --unit a/b", "not the name of a unit: a/b"},
		{"guard -o - 1", "it writes files, and no record stream"},
		{"guard --until-sure 1", "does not end --until-sure"},
		{"guard --detached --from 50% 1", "--detached attaches at once"},
		{"guard --detached --json 1", "--detached returns before there is anything"},
		{"guard --loader gdb 1", "heapinject guard: not a loader (map, dlopen): gdb"},
		{"guard --fron 50% 1", "unknown option: --fron (did you mean --from?)"},
		{"attach --from 50% 1", "unknown option: --from"},
		{"attach --name x 1", "a process besides --name, --cgroup, --unit or --port: 1"},
		{"attach --name x --port 1", "only one of --name, --cgroup, --unit and --port"},
		{"attach --port 0", "not a port (1 to 65535): 0"},
		{"attach --port 65536", "not a port (1 to 65535): 65536"},
		{"attach --unit a/b", "not the name of a unit: a/b"},
		{"pause", "which process?"},
		{"reset 1 2", "one argument too many: 2"},
		{"rate", "which process?"},
		{"rate 1", "which interval? give BYTES, or auto"},
		{"rate 1 fast", "not a number of bytes (524288, 512K, 1M, auto): fast"},
		{"rate 1 0", "not a number of bytes"},
		{"rate 1 64K 2", "one argument too many: 2"},
		{"status 1 1", "one argument too many"},
		{"status --jso", "unknown option: --jso (did you mean --json?)"},
		{"dump", "which process?"},
		{"dump 1 1", "one argument too many"},
		{"attach --fast 1", "unknown option: --fast"},
		{"attach --quiet=often 1", "neither true nor false: --quiet=often"},
		{"help frobnicate", "no such command: frobnicate"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_error(cases[i].command, HI_EXIT_USAGE, cases[i].line);
}

UNIT_TEST(a_name_that_no_process_has_is_refused)
{
	static const char *const commands[] = {"check",  "attach", "detach", "status",
					       "census", "dump",   "reset",  "guard"};
	char line[64];

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		snprintf(line, sizeof(line), "%s 7zzz-no-such", commands[i]);
		check_error(line, HI_EXIT_REFUSED, "there is no process called 7zzz-no-such");
	}
	check_error("attach --cgroup no/such", HI_EXIT_REFUSED,
		    "there is no process of the cgroup no/such");
	check_error("rate 7zzz-no-such 64K", HI_EXIT_REFUSED,
		    "there is no process called 7zzz-no-such");
}

UNIT_TEST(no_arguments_give_the_overview_as_an_error)
{
	const struct ran *ran = run("");
	CHECK_EQ(ran->exit_code, HI_EXIT_USAGE);
	CHECK_STR(ran->out, "");
	CHECK(strstr(ran->err, "Usage:"));
}

/* Every way to write the options: past the parser there is nobody to attach to. */
UNIT_TEST(right_command_lines_come_as_far_as_the_process)
{
	static const char *const commands[] = {
		"check " NOBODY,
		"attach " NOBODY,
		"attach " NOBODY " -s 2m -c 1M --live-max 50M -o /nowhere/x --loader dlopen -q -v",
		"attach -qv -s120 -c1 " NOBODY,
		"attach --max-overhead 0.5% " NOBODY,
		"attach --max-overhead off " NOBODY,
		"attach --duration 1h --sample=64K --output=/nowhere/x --loader=map --quiet "
		"--verbose " NOBODY,
		"attach -- " NOBODY,
		"attach -duration=1h30m -max_overhead 1% -every=1.5s -quiet " NOBODY,
		"attach " NOBODY " -s=500ms -o=/nowhere/x --live_max=50M --quiet=false",
		"attach -o - " NOBODY,
		"attach --every 5m --duration 1h --keep 12 " NOBODY,
		"attach --every-alloc 1G --at-peak=64M --at-rss 80% --max-kept all " NOBODY,
		"attach --detached -s 1h " NOBODY,
		"attach --at-rss 4G --on-signal SIGUSR1 --keep all " NOBODY,
		"guard " NOBODY,
		"guard --at=50,95.5% --from 40% -q --max-overhead 0.5% --every 1h " NOBODY,
	};
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		check_error(commands[i], HI_EXIT_REFUSED, NOBODY);
	check_error("dump " NOBODY, HI_EXIT_REFUSED, "no process " NOBODY);
	check_error("detach " NOBODY, HI_EXIT_REFUSED, "no process " NOBODY);
	check_error("status " NOBODY, HI_EXIT_REFUSED, "no process " NOBODY);
	check_error("pause " NOBODY, HI_EXIT_REFUSED, "no process " NOBODY);
	check_error("resume " NOBODY, HI_EXIT_REFUSED, "no process " NOBODY);
	check_error("reset " NOBODY, HI_EXIT_REFUSED, "no process " NOBODY);
	check_error("rate " NOBODY " 64K", HI_EXIT_REFUSED, "no process " NOBODY);
	check_error("rate " NOBODY " auto", HI_EXIT_REFUSED, "no process " NOBODY);
}

UNIT_TEST(every_command_has_help_on_standard_output)
{
	static const char *const names[] = {"check",  "attach", "run",   "guard",  "dump",
					    "detach", "status", "pause", "resume", "reset",
					    "rate",   "report", "help"};
	char command[64], by_help[16384];
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(command, sizeof(command), "help %s", names[i]);
		const struct ran *ran = run(command);
		CHECK_EQ(ran->exit_code, HI_EXIT_OK);
		CHECK_STR(ran->err, "");
		snprintf(command, sizeof(command), "heapinject %s", names[i]);
		CHECK(strstr(ran->out, "sage"));
		CHECK(strstr(ran->out, command));
		strcpy(by_help, ran->out);

		static const char *const options[] = {"--help", "-h"};
		for (size_t o = 0; o < 2; o++) {
			snprintf(command, sizeof(command), "%s %s", names[i], options[o]);
			ran = run(command);
			CHECK_EQ(ran->exit_code, HI_EXIT_OK);
			CHECK_STR(ran->err, "");
			CHECK_STR(ran->out, by_help);
		}
	}
}

UNIT_TEST(the_overview_names_every_command_and_exit_code)
{
	static const char *const commands[] = {"--help", "-h", "help"};
	static const char *const wanted[] = {
		"heapinject check ",    "heapinject attach ",
		"heapinject dump ",     "heapinject detach ",
		"heapinject report ",   "Exit codes: 0 ok, 1 failed, 2 usage, 3 ",
		"5 that cannot be told"};
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		const struct ran *ran = run(commands[i]);
		CHECK_EQ(ran->exit_code, HI_EXIT_OK);
		CHECK_STR(ran->err, "");
		for (size_t w = 0; w < sizeof(wanted) / sizeof(*wanted); w++)
			CHECK(strstr(ran->out, wanted[w]));
	}
}

UNIT_TEST(the_version_is_one_line)
{
	static const char *const commands[] = {"--version", "-V"};
	for (size_t i = 0; i < 2; i++) {
		const struct ran *ran = run(commands[i]);
		CHECK_EQ(ran->exit_code, HI_EXIT_OK);
		CHECK_STR(ran->out, "heapinject " HI_VERSION "\n");
		CHECK_STR(ran->err, "");
	}
}

/*
 * What attach says in its help is what it takes: the options of the text are those of the parser.
 */
UNIT_TEST(every_option_of_the_help_is_known)
{
	static const char *const options[] = {
		"-s 1",           "--duration 1", "-c 1",         "--sample 1",
		"-o x",           "--output x",   "--loader map", "--max-overhead 1%",
		"--live-max 50M", "-q",           "--quiet",      "-v",
		"--verbose",      "--every 5s",   "--keep 3"};
	char help[16384], name[32], command[64];
	strcpy(help, run("help attach")->out);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(options[i], " "), options[i]);
		CHECK(strstr(help, name));
		snprintf(command, sizeof(command), "attach %s " NOBODY, options[i]);
		CHECK_EQ(run(command)->exit_code, HI_EXIT_REFUSED);
	}
}

UNIT_MAIN()
