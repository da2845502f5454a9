/* SPDX-License-Identifier: MIT */
/*
 * cli_census.c - `heapinject census`: counts the blocks that a process holds, by what they hold.
 * Nothing is injected and no thread is stopped.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "census_print.h"
#include "cli_arguments.h"
#include "cli_command.h"
#include "clock.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "inspected.h"
#include "plain_text.h"
#include "refused.h"
#include "type_names.h"

#define SECOND_NS 1000000000ull
#define WALK_NS_MAX (60 * SECOND_NS) /* of one look */
#define ROWS 30u

struct census_options {
	bool json, show_data, all;
	uint64_t watch_ns; /* 0: one census */
};

static int parse(int argc, char **argv, struct census_options *out, pid_t *out_pid)
{
	static const struct option long_options[] = {{"json", no_argument, NULL, 'j'},
						     {"show-data", no_argument, NULL, 'd'},
						     {"all", no_argument, NULL, 'a'},
						     {"duration", required_argument, NULL, 's'},
						     {NULL, 0, NULL, 0}};
	struct hi_options given = {
		.argc = argc, .argv = argv, .known = long_options, .letters = "s:", .next = 1};

	for (int option; (option = hi_options_next(&given)) != HI_OPTIONS_END;) {
		switch (option) {
		case 'j':
			out->json = !given.is_off;
			break;
		case 'd':
			out->show_data = !given.is_off;
			break;
		case 'a':
			out->all = !given.is_off;
			break;
		case 's':
			if (hi_parse_time(given.value, &out->watch_ns))
				return cli_usage_error("census", "no duration", given.value);
			break;
		default:
			return cli_option_error("census", option, &given);
		}
	}
	return cli_parse_only_pid(argc, argv, given.next, out_pid);
}

/* All that is read of the process. */
struct reading {
	struct memory memory;
	struct inspected inspected;
	struct used_blocks blocks;
	struct content_reader reader;
	struct census before, now;
};

static int count(struct reading *reading, struct census *out_census)
{
	struct inspected *inspected = &reading->inspected;

	used_blocks_close(&reading->blocks);
	inspected_close(inspected);
	int err = inspected_open(inspected, &reading->memory, clock_now_ns() + WALK_NS_MAX);
	if (!err)
		err = used_blocks_find(&inspected->source, &reading->blocks);
	if (!err && !reading->reader.types.source)
		type_infos_open(&reading->reader.types, &inspected->source);
	reading->reader.blocks = &reading->blocks;
	return err ? err
		   : census_take(&inspected->source, &reading->blocks, &reading->reader,
				 out_census);
}

static void wait_ns(uint64_t ns)
{
	struct timespec left = {.tv_sec = (time_t)(ns / SECOND_NS),
				.tv_nsec = (long)(ns % SECOND_NS)};

	while (nanosleep(&left, &left))
		;
}

static int read_all(struct reading *reading, const struct census_options *options)
{
	int err = count(reading, options->watch_ns ? &reading->before : &reading->now);

	if (err || !options->watch_ns)
		return err;
	wait_ns(options->watch_ns);
	err = count(reading, &reading->now);
	return !err && !memory_is_alive(&reading->memory) ? -ESRCH : err;
}

/* Without any right: the names are the process's. */
static int print(const struct reading *reading, const struct census_options *options,
		 const char *name)
{
	const struct type_infos *types = &reading->reader.types;
	const pid_t pid = reading->memory.pid;
	char **readable = calloc(types->count + 1, sizeof(*readable));
	FILE *out = type_names_give_up_rights();

	if (!out || !readable)
		return HI_EXIT_FAILED;
	for (size_t i = 0; i < types->count; i++)
		readable[i] = type_names_readable(types->name[i]);
	const struct counted counted = {
		.pid = pid,
		.name = name,
		.blocks = &reading->blocks,
		.before = options->watch_ns ? &reading->before : NULL,
		.now = &reading->now,
		.type = readable,
		.show_data = options->show_data,
		.rows = options->all ? 0 : ROWS,
	};
	if (options->json)
		census_print_json(&counted, out);
	else
		census_print(&counted, out);
	return fclose(out) ? HI_EXIT_FAILED : HI_EXIT_OK;
}

static int run_census(int argc, char **argv)
{
	struct census_options options = {0};
	static struct reading reading;
	struct proc_status status = {0};
	char name[sizeof(status.comm) + 1] = "?";
	pid_t pid;
	int exit_code = parse(argc, argv, &options, &pid);

	if (exit_code != HI_EXIT_OK)
		return exit_code;
	int err = memory_open_to_read(&reading.memory, pid, pid);
	if (!err)
		err = read_all(&reading, &options);
	if (err)
		return refused_print(pid, err);
	if (!proc_status_read(pid, 0, &status))
		plain_text_copy(name, sizeof(name), status.comm);
	exit_code = print(&reading, &options, name);
	if (exit_code != HI_EXIT_OK)
		fputs("heapinject: cannot give up rights to print names\n", stderr);
	return exit_code;
}

const struct command cli_census = {
	"census", run_census, "PID [--duration TIME] [--all] [--show-data] [--json]",
	"count what a process holds, by C++ class, strings and sizes",
	"Walks the allocator's blocks in use from outside, and tells by their first bytes what "
	"they "
	"hold. Nothing is\n"
	"injected, and no thread is stopped.\n"
	"\n"
	"  -s, --duration TIME    count twice, this far apart, and show what grew first\n"
	"      --all              all rows, not only the first 30\n"
	"      --show-data        with strings: how one of them begins. It may be anything that "
	"the "
	"process has\n"
	"      --json             one JSON object; heapinject(1) has its members\n"};
