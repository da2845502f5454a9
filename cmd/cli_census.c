/* SPDX-License-Identifier: MIT */
/*
 * cli_census.c - `heapinject census`: counts the blocks that a process holds, by what they hold, or
 * by the free memory that they pin. Nothing is injected, and no thread is stopped without --freeze.
 */
#include <errno.h>
#include <stdlib.h>

#include "cli_arguments.h"
#include "cli_command.h"
#include "cli_look.h"
#include "clock.h"
#include "hi_exit.h"
#include "pins_print.h"

struct counting {
	struct cli_look look;
	struct cli_look_options options;
	struct census_looks looks; /* with --duration */
	struct census now;
	struct census_growth growth;
	uint64_t look_ns; /* that the slowest look took */
	uint32_t *group;  /* of `now`, by block */
	bool is_of_pins, is_of_owners;
	struct release_units units;
	struct pins pins;
	struct owners owners; /* with --owner: also has `now` and `group` */
	struct referrers referrers;
	struct stack_rows stacks;
};

/* Of the blocks that were found last. */
static int take_census(struct counting *counting)
{
	struct cli_look *look = &counting->look;
	struct census_of of = {.block = look->blocks.block, .count = look->blocks.count};

	if (counting->is_of_owners) {
		int err = owners_find(&look->inspected, &look->blocks, &look->reader,
				      &counting->owners);

		if (!err)
			err = referrers_find(&counting->owners, &counting->referrers);
		counting->now = counting->owners.census;
		counting->group = counting->owners.group;
		return err;
	}
	of.group = counting->group = calloc(of.count + 1, sizeof(*of.group));
	return of.group ? census_take(&look->inspected.source, &of, &look->reader, &counting->now)
			: -ENOMEM;
}

static int find_stacks(struct counting *counting)
{
	struct cli_look *look = &counting->look;

	return cli_look_stacks(look, look->blocks.block, look->blocks.count, counting->group,
			       &counting->stacks);
}

static int count_found(struct counting *counting)
{
	const int err = take_census(counting);

	return err ? err : find_stacks(counting);
}

static int count_once(struct counting *counting)
{
	const int err = cli_look_now(&counting->look);

	return err ? err : count_found(counting);
}

/* One of several looks; the last one has all that is known. */
static int count_in_turn(struct counting *counting, bool is_last)
{
	struct cli_look *look = &counting->look;
	const uint64_t begin_ns = clock_now_ns();
	int err = cli_look_now(look);
	const uint64_t found_ns = clock_now_ns();
	const struct census_of of = {.block = look->blocks.block, .count = look->blocks.count};
	struct census census = {0};

	if (err)
		return err;
	err = is_last ? count_found(counting)
		      : census_take(&look->inspected.source, &of, &look->reader, &census);
	if (!err)
		err = census_looks_add(&counting->looks, is_last ? &counting->now : &census,
				       found_ns);
	census_close(&census);
	const uint64_t took_ns = clock_now_ns() - begin_ns;
	if (took_ns > counting->look_ns && !is_last)
		counting->look_ns = took_ns;
	return err;
}

/*
 * Looks at equal intervals. The first one says how many there will be; where the others take
 * longer, the time that was asked for ends them, if there are enough.
 */
static int count_several(struct counting *counting)
{
	const uint64_t duration_ns = counting->options.watch_ns, begin_ns = clock_now_ns();
	int err = count_in_turn(counting, false);
	const unsigned wanted = census_looks_wanted(duration_ns, counting->look_ns);

	for (bool is_last = false; !err && !is_last;) {
		const unsigned at = counting->looks.count;

		clock_wait_until(begin_ns + duration_ns / (wanted - 1) * at);
		is_last = at + 1 == wanted ||
			  (at + 1 >= CENSUS_LOOKS_MIN && clock_now_ns() >= begin_ns + duration_ns);
		err = count_in_turn(counting, is_last);
	}
	return err;
}

static int find_pins(struct counting *counting)
{
	struct cli_look *look = &counting->look;
	struct resident resident;
	int err = resident_read(&look->memory, &look->inspected.maps, &resident);

	if (!err)
		err = take_census(counting);
	const struct pins_of pins_of = {
		.block = look->blocks.block,
		.count = look->blocks.count,
		.group = counting->group,
		.group_count = counting->now.count,
		.units = &counting->units,
		.resident = &resident,
	};
	if (!err)
		err = pins_find(&pins_of, &counting->pins);
	if (!err)
		err = find_stacks(counting);
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
	release_units_sort(&counting->units);
	look->blocks.is_partial |= counting->units.is_partial;
	err = find_pins(counting);
	release_units_close(&counting->units);
	return err;
}

static int count_all(struct counting *counting)
{
	int err = counting->is_of_pins         ? count_pins(counting)
		  : counting->options.watch_ns ? count_several(counting)
					       : count_once(counting);

	if (!err)
		err = census_growth_find(&counting->now, &counting->looks, &counting->growth);
	return !err && !memory_is_alive(&counting->look.memory) ? -ESRCH : err;
}

static void print(void *context, char *const *type, bool as_json, FILE *out)
{
	const struct counting *counting = context;
	const struct referrer_rows referrers = {
		.names = {&counting->owners, type},
		.referrers = counting->is_of_owners ? &counting->referrers : NULL,
	};
	const struct counted counted = {
		.pid = counting->look.memory.pid,
		.name = counting->look.name,
		.blocks = &counting->look.blocks,
		.now = &counting->now,
		.growth = &counting->growth,
		.look_seconds = (double)counting->look_ns / 1e9,
		.stacks = &counting->stacks,
		.referrers = &referrers,
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
	counting.options.owner = &counting.is_of_owners;
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
	counting.look.freeze_ns = counting.options.freeze_ns;
	counting.look.wants_registers = counting.is_of_owners;
	if (!err)
		err = count_all(&counting);
	return err ? cli_look_refused(&counting.look, pid, err)
		   : cli_look_end(&counting.look, argv[0], print, &counting);
}

const struct command cli_census = {
	"census", run_census,
	"PID [--duration TIME | --pins] [--owner] [--freeze TIME] [--all] [--show-data] [--json] "
	"[--html FILE]",
	"count what a process holds, by C++ class, strings and sizes",
	"Walks the allocator's blocks in use from outside, and tells by their first bytes what "
	"they "
	"hold. Nothing is\n"
	"injected, and no thread is stopped without --freeze.\n"
	"\n"
	"  -s, --duration TIME    look up to 20 times within this time, and show what grows first, "
	"with\n"
	"                         intervals; six times if a look takes long, twice if it takes too "
	"long\n"
	"      --pins             which of them keep free memory from going back, and how much\n"
	"      --owner            whose pointers lead there: classes, variables, stacks, modules\n"
	"      --freeze TIME      " CLI_LOOK_FREEZE_HELP
	"      --all              all rows, not only the first 30\n"
	"      --show-data        with strings: how one of them begins. It may be anything that "
	"the "
	"process has\n"
	"      --html FILE        also write a page that has it all; the file must not exist\n"
	"      --json             one JSON object; heapinject(1) has its members\n"};
