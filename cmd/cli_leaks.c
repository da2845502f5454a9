/* SPDX-License-Identifier: MIT */
/*
 * cli_leaks.c - `heapinject leaks`: finds blocks of a running process to which nothing refers any
 * more. Nothing is injected, and no thread is stopped without --freeze.
 */
#include <errno.h>
#include <unistd.h>

#include "cli_command.h"
#include "cli_look.h"
#include "clock.h"
#include "hi_exit.h"
#include "leak_looks.h"
#include "leaks_print.h"

#define SECOND_NS 1000000000ull
#define WATCH_NS (5 * SECOND_NS)
#define PAUSE_NS (SECOND_NS / 5)

struct looking {
	struct cli_look look;
	struct cli_look_options options;
	struct leaked_blocks leaked; /* that no look has reached */
	struct leak_looks looks;
	struct census census;
	struct stack_rows stacks;
	uint64_t apart_ns; /* the two passes */
};

static int find(struct cli_look *look, struct leaked_blocks *out_leaked)
{
	const int err = cli_look_now(look);

	*out_leaked = (struct leaked_blocks){0};
	/* what is not known may refer to any block: nothing could be said */
	if (!err && look->blocks.is_partial)
		return 0;
	return err ? err : leaked_blocks_find(&look->inspected, &look->blocks, out_leaked);
}

/* Looks once more, and keeps what was not reached then, either. */
static int look_again_for(struct looking *looking)
{
	struct cli_look *look = &looking->look;
	struct leaked_blocks now;

	const int err = find(look, &now);
	if (err) {
		leaked_blocks_close(&now);
		return err;
	}
	leaked_blocks_keep_both(&now, &looking->leaked);
	leak_looks_add(&looking->looks, looking->leaked.count, now.count);
	leaked_blocks_close(&looking->leaked);
	looking->leaked = now;
	return 0;
}

/*
 * A busy program frees blocks, and takes them again, while it is searched: some of them are not
 * reached twice. It is searched until the same blocks are left: leak_looks.h. While it is stopped
 * it does not, and one search is enough.
 */
static int find_all(struct looking *looking)
{
	struct cli_look *look = &looking->look;
	const uint64_t begin_ns = clock_now_ns();
	int err = find(look, &looking->leaked);
	const bool is_enough = err || look->freeze_ns || look->blocks.is_partial;

	leak_looks_add(&looking->looks, 0, looking->leaked.count);
	if (!is_enough && isatty(STDERR_FILENO))
		fprintf(stderr, "heapinject: looking at process %d once more in %.0f s\n",
			(int)look->memory.pid, (double)looking->options.watch_ns / SECOND_NS);
	if (!is_enough)
		clock_wait_until(clock_now_ns() + looking->options.watch_ns);
	while (!err && !is_enough && !leak_looks_suffice(&looking->looks, looking->leaked.count)) {
		if (looking->looks.count > 1)
			clock_wait_until(clock_now_ns() + PAUSE_NS);
		err = look_again_for(looking);
	}
	looking->apart_ns = look->freeze_ns ? 0 : clock_now_ns() - begin_ns;
	return !err && !memory_is_alive(&look->memory) ? -ESRCH : err;
}

static int count_all(struct looking *looking)
{
	struct cli_look *look = &looking->look;
	struct leaked_leaders leaders = {0};
	int err = leaked_blocks_count(&looking->leaked, &look->inspected.source, &look->reader,
				      &leaders, &looking->census);

	if (!err)
		err = cli_look_stacks(look, leaders.block, leaders.count, leaders.group,
				      &looking->stacks);
	leaked_leaders_close(&leaders);
	return err;
}

static struct leaks_found found_by(const struct looking *looking)
{
	return (struct leaks_found){
		.pid = looking->look.memory.pid,
		.name = looking->look.name,
		.blocks = &looking->look.blocks,
		.census = &looking->census,
		.stacks = &looking->stacks,
		.seconds = (double)looking->apart_ns / 1e9,
		.looks = looking->looks.count,
		.is_unsettled = leak_looks_are_unsettled(&looking->looks, looking->leaked.count),
		.show_data = looking->options.show_data,
		.rows = looking->options.all ? 0 : CLI_LOOK_ROWS,
	};
}

static void print(void *context, char *const *type, bool as_json, FILE *out)
{
	const struct looking *looking = context;
	struct leaks_found found = found_by(looking);

	found.type = type;
	if (as_json)
		leaks_print_json(&found, out);
	else
		leaks_print(&found, out);
}

static int run_leaks(int argc, char **argv)
{
	static struct looking looking = {.options = {.watch_ns = WATCH_NS}};
	pid_t pid;
	const int exit_code = cli_look_parse(argc, argv, &looking.options, &pid);

	if (exit_code != HI_EXIT_OK)
		return exit_code;
	looking.look.as_json = looking.options.json;
	looking.look.page.path = looking.options.html;
	int err = cli_look_open(&looking.look, pid);
	looking.look.freeze_ns = looking.options.freeze_ns;
	looking.look.wants_registers = true;
	if (!err)
		err = find_all(&looking);
	if (!err)
		err = count_all(&looking);
	if (err)
		return cli_look_refused(&looking.look, pid, err);
	const struct leaks_found found = found_by(&looking);
	const bool can_tell = leaks_can_tell(&found);
	const int ended = cli_look_end(&looking.look, argv[0], print, &looking);

	return ended == HI_EXIT_OK && !can_tell ? HI_EXIT_UNSURE : ended;
}

const struct command cli_leaks = {
	"leaks", run_leaks,
	"PID [--duration TIME | --freeze TIME] [--all] [--show-data] [--json] [--html FILE]",
	"find blocks of a process that nothing refers to any more",
	"Searches the process's memory from outside for pointers to the allocator's blocks in use, "
	"twice or more. What is not\n"
	"found any time has leaked, whenever it was allocated. Nothing is injected, and no "
	"thread "
	"is stopped without --freeze.\n"
	"\n"
	"  -s, --duration TIME    from the first search to the second (default: 5s)\n"
	"      --freeze TIME      " CLI_LOOK_FREEZE_HELP
	"      --all              all rows, not only the first 30\n"
	"      --show-data        with strings: how one of them begins. It may be anything that "
	"the "
	"process has\n"
	"      --html FILE        also write a page that has it all; the file must not exist\n"
	"      --json             one JSON object; heapinject(1) has its members\n"};
