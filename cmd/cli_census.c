/* SPDX-License-Identifier: MIT */
/*
 * cli_census.c - `heapinject census`: counts the blocks that a process holds, by what they hold, or
 * by the free memory that they pin. Nothing is injected and no thread is stopped.
 */
#include <errno.h>
#include <stdlib.h>

#include "cli_arguments.h"
#include "cli_command.h"
#include "cli_look.h"
#include "clock.h"
#include "hi_exit.h"
#include "pins_print.h"
#include "refused.h"

struct counting {
	struct cli_look look;
	struct cli_look_options options;
	struct census before, now;
	bool is_of_pins;
	struct release_units units;
	struct pins pins;
	struct stack_rows stacks;
};

static int count(struct cli_look *look, struct census *out_census)
{
	const int err = cli_look_now(look);
	const struct census_of of = {.block = look->blocks.block, .count = look->blocks.count};

	return err ? err : census_take(&look->inspected.source, &of, &look->reader, out_census);
}

/* The same, with the stacks that a session knows. */
static int count_now(struct counting *counting)
{
	struct cli_look *look = &counting->look;
	int err = cli_look_now(look);
	struct census_of of = {.block = look->blocks.block, .count = look->blocks.count};

	if (err)
		return err;
	of.group = calloc(of.count + 1, sizeof(*of.group));
	err = of.group ? census_take(&look->inspected.source, &of, &look->reader, &counting->now)
		       : -ENOMEM;
	if (!err)
		err = cli_look_stacks(look, of.block, of.count, of.group, &counting->stacks);
	free(of.group);
	return err;
}

static int find_pins(struct counting *counting, uint32_t *group)
{
	struct cli_look *look = &counting->look;
	const struct census_of of = {
		.block = look->blocks.block, .count = look->blocks.count, .group = group};
	struct resident resident;
	int err = resident_read(&look->memory, &look->inspected.maps, &resident);

	if (!err)
		err = census_take(&look->inspected.source, &of, &look->reader, &counting->now);
	const struct pins_of pins_of = {
		.block = of.block,
		.count = of.count,
		.group = group,
		.group_count = counting->now.count,
		.units = &counting->units,
		.resident = &resident,
	};
	if (!err)
		err = pins_find(&pins_of, &counting->pins);
	if (!err)
		err = cli_look_stacks(look, of.block, of.count, group, &counting->stacks);
	resident_close(&resident);
	return err;
}

/* Counts once, with what the blocks pin. */
static int count_pins(struct counting *counting)
{
	struct cli_look *look = &counting->look;
	const struct heap_visitor also = release_units_visitor(&counting->units);

	look->also = &also;
	int err = cli_look_now(look);
	look->also = NULL;
	if (err)
		return err;
	uint32_t *group = calloc(look->blocks.count + 1, sizeof(*group));

	release_units_sort(&counting->units);
	look->blocks.is_partial |= counting->units.is_partial;
	err = group ? find_pins(counting, group) : -ENOMEM;
	free(group);
	release_units_close(&counting->units);
	return err;
}

static int count_all(struct counting *counting)
{
	struct cli_look *look = &counting->look;
	const bool is_twice = counting->options.watch_ns;
	int err = 0;

	if (is_twice) {
		err = count(look, &counting->before);
		clock_wait_until(clock_now_ns() + counting->options.watch_ns);
	}
	if (!err)
		err = counting->is_of_pins ? count_pins(counting) : count_now(counting);
	return !err && !memory_is_alive(&look->memory) ? -ESRCH : err;
}

static void print(void *context, char *const *type, bool as_json, FILE *out)
{
	const struct counting *counting = context;
	const struct counted counted = {
		.pid = counting->look.memory.pid,
		.name = counting->look.name,
		.blocks = &counting->look.blocks,
		.before = counting->options.watch_ns ? &counting->before : NULL,
		.now = &counting->now,
		.stacks = &counting->stacks,
		.type = type,
		.show_data = counting->options.show_data,
		.rows = counting->options.all ? 0 : CLI_LOOK_ROWS,
	};

	if (counting->is_of_pins && as_json)
		pins_print_json(&counted, &counting->pins, out);
	else if (counting->is_of_pins)
		pins_print(&counted, &counting->pins, out);
	else if (as_json)
		census_print_json(&counted, out);
	else
		census_print(&counted, out);
}

static int run_census(int argc, char **argv)
{
	static struct counting counting;
	pid_t pid;

	counting.options.pins = &counting.is_of_pins;
	const int exit_code = cli_look_parse(argc, argv, &counting.options, &pid);
	if (exit_code != HI_EXIT_OK)
		return exit_code;
	if (counting.is_of_pins && counting.options.watch_ns)
		return cli_usage_error(argv[0], "--pins looks once: not with --duration", NULL);
	if (counting.is_of_pins && counting.options.html)
		return cli_usage_error(argv[0], "--pins has no page: not with --html", NULL);
	counting.look.as_json = counting.options.json;
	counting.look.page.path = counting.options.html;
	int err = cli_look_open(&counting.look, pid);
	if (!err)
		err = count_all(&counting);
	return err ? refused_print(pid, err)
		   : cli_look_end(&counting.look, argv[0], print, &counting);
}

const struct command cli_census = {
	"census", run_census,
	"PID [--duration TIME | --pins] [--all] [--show-data] [--json] [--html FILE]",
	"count what a process holds, by C++ class, strings and sizes",
	"Walks the allocator's blocks in use from outside, and tells by their first bytes what "
	"they "
	"hold. Nothing is\n"
	"injected, and no thread is stopped.\n"
	"\n"
	"  -s, --duration TIME    count twice, this far apart, and show what grew first\n"
	"      --pins             which of them keep free memory from going back, and how much\n"
	"      --all              all rows, not only the first 30\n"
	"      --show-data        with strings: how one of them begins. It may be anything that "
	"the "
	"process has\n"
	"      --html FILE        also write a page that has it all; the file must not exist\n"
	"      --json             one JSON object; heapinject(1) has its members\n"};
