/* SPDX-License-Identifier: MIT */
/* cli_guard.c - `heapinject guard`. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "cli_arguments.h"
#include "cli_choice.h"
#include "cli_command.h"
#include "cli_session.h"
#include "guard.h"
#include "hi_exit.h"
#include "hi_units.h"

enum {
	OPTION_AT = CLI_MORE_OPTIONS,
	OPTION_FROM,
	OPTION_CGROUP,
	OPTION_UNIT,
};

struct given {
	struct guard_options guard;
	struct limit_options limit;
};

static int parse_at(const char *value, struct limit_options *limit)
{
	const int err = limit_parse_at(value, limit);

	if (err == -E2BIG)
		return cli_usage_error("guard", "more than 16 shares of the limit", value);
	return err ? cli_usage_error("guard", "not shares of the limit (70%,80%,90%)", value)
		   : HI_EXIT_OK;
}

static int parse(void *context, int option, const char *value)
{
	struct given *given = context;

	switch (option) {
	case OPTION_AT:
		return parse_at(value, &given->limit);
	case OPTION_FROM:
		return hi_parse_percent(value, &given->guard.from_ppm)
			       ? cli_usage_error("guard", "not a share of the limit (50%)", value)
			       : HI_EXIT_OK;
	case OPTION_CGROUP:
		given->guard.cgroup = value;
		break;
	default:
		given->guard.unit = value;
	}
	return *value ? HI_EXIT_OK : cli_usage_error("guard", "a name is empty", NULL);
}

/* Rejects what contradicts each other, besides what attach does. */
static int check(const struct given *given, const struct session_options *options)
{
	const struct guard_options *guard = &given->guard;

	if (guard->cgroup && guard->unit)
		return cli_usage_error("guard", "--cgroup or --unit, not both", NULL);
	if (guard->unit && strchr(guard->unit, '/'))
		return cli_usage_error("guard", "not the name of a unit", guard->unit);
	if (guard->from_ppm && guard->from_ppm >= given->limit.at_ppm[0])
		return cli_usage_error(
			"guard", "--from must be below the first share at which a profile is due",
			NULL);
	if (options->stream_path || !strcmp(options->prefix, "-"))
		return cli_usage_error(
			"guard", "it writes files, and no record stream (-o -, --stream)", NULL);
	if (options->until_sure)
		return cli_usage_error("guard", "it goes on, and does not end --until-sure", NULL);
	if (options->detached && (guard->from_ppm || guard->cgroup || guard->unit))
		return cli_usage_error("guard",
				       "--detached attaches at once, to one process: not with "
				       "--from, --cgroup and --unit",
				       NULL);
	return HI_EXIT_OK;
}

static int run_guard(int argc, char **argv)
{
	static const struct option more[] = {{"at", required_argument, NULL, OPTION_AT},
					     {"from", required_argument, NULL, OPTION_FROM},
					     {"cgroup", required_argument, NULL, OPTION_CGROUP},
					     {"unit", required_argument, NULL, OPTION_UNIT},
					     {NULL, 0, NULL, 0}};
	struct session_options options = cli_session_defaults();
	struct given given = {0};
	const struct cli_more_options others = {more, parse, &given};
	int next;

	options.duration_ns = 0;
	(void)!limit_parse_at(LIMIT_AT_DEFAULT, &given.limit);
	int exit_code = cli_session_parse(argc, argv, false, &others, &options, &next);
	const bool has_name = given.guard.cgroup || given.guard.unit;
	if (exit_code == HI_EXIT_OK && !has_name)
		exit_code = cli_choose_only_process(argc, argv, next, &options.pid);
	else if (exit_code == HI_EXIT_OK && next < argc)
		exit_code = cli_usage_error("guard", "a process besides --cgroup or --unit",
					    argv[next]);
	if (exit_code == HI_EXIT_OK)
		exit_code = check(&given, &options);
	options.triggers.limit = given.limit;
	if (exit_code == HI_EXIT_OK)
		exit_code = cli_session_complete(&options);
	return exit_code == HI_EXIT_OK ? guard_run(&given.guard, &options) : exit_code;
}

const struct command cli_guard = {
	"guard", run_guard,
	"PID|--cgroup PATH|--unit NAME [--at SHARES] [--from SHARE] [OPTIONS of attach]",
	"write profiles before the kernel kills a process for its memory",
	"Attaches to a process, watches the limit of memory that it reaches first (of its cgroup, "
	"of "
	"one above it, or the machine's), and\n"
	"writes profiles as it comes near, each on the disk and whole; says when the limit is "
	"reached, and what grows. After a kill it says so,\n"
	"and names the last profile. Goes on until the process exits, Ctrl-C, SIGTERM or "
	"`heapinject detach PID`. Takes the options of attach, too\n"
	"(`heapinject help attach`), but not -o - and --until-sure.\n"
	"\n"
	"      --at SHARES        write a profile at these shares of the limit (default "
	"70%,80%,90%); one also when processes begin to wait for memory\n"
	"      --from SHARE       attach only when this share of the limit is in use: 50% "
	"(default: at once)\n"
	"      --cgroup PATH      the process of this cgroup that has the most resident memory, "
	"and after its end the next one:\n"
	"                         /sys/fs/cgroup/a/b, or a/b\n"
	"      --unit NAME        the same of a unit of systemd; waits for it, and for it to be "
	"started again\n"
	"  -s, --duration TIME    how long (default: until the process exits)\n"
	"      --keep COUNT       keep only the newest profiles (default 32)\n"
	"\n"
	"Pages of files do not count as used: the kernel drops them before it kills. If heapinject "
	"itself is in the limited cgroup, it leaves that\n"
	"first, or says that it cannot.\n"};
