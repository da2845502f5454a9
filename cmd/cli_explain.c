/* SPDX-License-Identifier: MIT */
/*
 * cli_explain.c - `heapinject explain`: looks at the memory of a process for some seconds, and says
 * what it consists of. Nothing is injected, and no thread is stopped without --freeze.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli_arguments.h"
#include "cli_choice.h"
#include "cli_command.h"
#include "cli_look.h"
#include "cli_page.h"
#include "clock.h"
#include "explain_print.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "inspected.h"
#include "memory_limit.h"
#include "plain_text.h"
#include "refused.h"

#define SECOND_NS 1000000000ull
#define WATCH_NS (5 * SECOND_NS)
#define WALK_NS_MAX (60 * SECOND_NS) /* of one look */
#define CHEAP_NS (SECOND_NS / 10)
#define LOOKS 6u

struct explain_options {
	bool json, once;
	struct cli_page page;         /* of --html */
	uint64_t watch_ns, freeze_ns; /* freeze_ns: 0 = the process runs on */
};

static int parse(int argc, char **argv, struct explain_options *out, pid_t *out_pid)
{
	static const struct option long_options[] = {{"json", no_argument, NULL, 'j'},
						     {"once", no_argument, NULL, '1'},
						     {"html", required_argument, NULL, 'h'},
						     {"duration", required_argument, NULL, 's'},
						     {"freeze", required_argument, NULL, 'f'},
						     {NULL, 0, NULL, 0}};
	struct hi_options given = {
		.argc = argc, .argv = argv, .known = long_options, .letters = "s:", .next = 1};

	bool is_watched = false;

	for (int option; (option = hi_options_next(&given)) != HI_OPTIONS_END;) {
		if (option == 'j')
			out->json = !given.is_off;
		else if (option == '1')
			out->once = !given.is_off;
		else if (option == 'h')
			out->page.path = given.value;
		else if (option == 'f' &&
			 cli_look_parse_freeze("explain", given.value, &out->freeze_ns))
			return HI_EXIT_USAGE;
		else if (option == 's' && hi_parse_time(given.value, &out->watch_ns))
			return cli_usage_error("explain", "no duration", given.value);
		else if (option != 's' && option != 'f')
			return cli_option_error("explain", option, &given);
		is_watched |= option == 's';
	}
	if (out->freeze_ns && is_watched)
		return cli_usage_error("explain", CLI_LOOK_FREEZES_ONCE, NULL);
	out->once |= out->freeze_ns > 0;
	return cli_choose_only_process(argc, argv, given.next, out_pid);
}

static int take(const struct memory *memory, struct account *out_account)
{
	const struct account_source source = {
		.memory = memory,
		.deadline_ns = clock_now_ns() + WALK_NS_MAX,
	};
	const int err = account_take(&source, out_account);

	if (!err && !memory_is_alive(memory))
		return -ESRCH;
	return err;
}

/* Of a copy of the process as it is now. */
static int take_frozen(struct memory *memory, uint64_t bound_ns, struct frozen *frozen,
		       struct account *out_account)
{
	const struct frozen_want want = {.bound_ns = bound_ns, .smaps = true};
	int err = 0;

	/* a thread that was stopped within the allocator may have left some of it half done */
	for (unsigned i = 0; i < CLI_LOOK_FREEZES && !err; i++) {
		account_close(out_account);
		memory->copy = NULL;
		err = frozen_take(memory, &want, frozen);
		memory->copy = err ? NULL : &frozen->copy;
		if (!err)
			err = take(memory, out_account);
		if (!out_account->part[ACCOUNT_UNSURE].bytes || frozen->has_swapped)
			break;
	}
	return err;
}

/* All looks at one process. */
struct watch {
	struct account before, now;
	unsigned steps, rising, falling; /* as in verdict.h */
};

static int look_later(const struct memory *memory, struct watch *watch, uint64_t at_ns)
{
	const uint64_t used = watch->now.part[ACCOUNT_USED].resident;

	account_close(&watch->now);
	clock_wait_until(at_ns);
	const int err = take(memory, &watch->now);
	watch->steps++;
	watch->rising += !err && watch->now.part[ACCOUNT_USED].resident > used;
	watch->falling += !err && watch->now.part[ACCOUNT_USED].resident < used;
	return err;
}

/* Looks often where that costs little, and at least twice. */
static int look(const struct memory *memory, const struct explain_options *options,
		struct watch *watch)
{
	const uint64_t used_ns = clock_used_ns();
	int err = take(memory, options->once ? &watch->now : &watch->before);

	if (err || options->once)
		return err;
	const bool is_cheap = clock_used_ns() - used_ns < CHEAP_NS;
	const unsigned looks = is_cheap ? LOOKS : 1;

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "heapinject: watching process %d for %.0f s\n", (int)memory->pid,
			(double)options->watch_ns / SECOND_NS);
	watch->now.part[ACCOUNT_USED] = watch->before.part[ACCOUNT_USED];
	for (unsigned i = 1; i <= looks && !err; i++)
		err = look_later(memory, watch,
				 watch->before.at_ns + i * options->watch_ns / looks);
	return err;
}

static void print_json(const void *context, FILE *out)
{
	explain_print_json(context, out);
}

/* Returns an exit code. */
static int print_page(struct cli_page *page, bool is_quiet, const struct explained *explained)
{
	int exit_code = cli_page_create(page);

	if (exit_code == HI_EXIT_OK)
		exit_code = cli_page_write(page, "explain", print_json, explained);
	if (exit_code == HI_EXIT_OK && !is_quiet)
		printf("Written: %s\n", page->path);
	return exit_code;
}

/* Returns an exit code. */
static int print(pid_t pid, struct explain_options *options, const struct watch *watch)
{
	struct proc_status status = {0};
	char name[sizeof(status.comm) + 1] = "?";
	struct explained explained = {
		.pid = pid,
		.name = name,
		.seen = {.before = options->once ? NULL : &watch->before,
			 .now = &watch->now,
			 .steps = watch->steps,
			 .rising = watch->rising,
			 .falling = watch->falling,
			 .limit = memory_limit_resident(pid, pid)},
	};

	if (!proc_status_read(pid, 0, &status))
		plain_text_copy(name, sizeof(name), status.comm);
	verdict_find(&explained.seen, &explained.verdict);
	if (options->json)
		explain_print_json(&explained, stdout);
	else
		explain_print(&explained, stdout);
	return options->page.path ? print_page(&options->page, options->json, &explained)
				  : HI_EXIT_OK;
}

static int run_explain(int argc, char **argv)
{
	struct explain_options options = {.watch_ns = WATCH_NS};
	struct watch watch = {0};
	static struct frozen frozen;
	struct memory memory;
	pid_t pid;
	int exit_code = parse(argc, argv, &options, &pid);

	if (exit_code != HI_EXIT_OK)
		return exit_code;
	int err = inspected_memory(pid, &memory);
	if (err)
		return refused_print(pid, err);
	err = options.freeze_ns ? take_frozen(&memory, options.freeze_ns, &frozen, &watch.now)
				: look(&memory, &options, &watch);
	if (err && *frozen.why)
		exit_code = refused_freeze(pid, err, frozen.why);
	else if (err)
		exit_code = refused_print(pid, err);
	else
		exit_code = print(pid, &options, &watch);
	account_close(&watch.before);
	account_close(&watch.now);
	frozen_close(&frozen);
	memory_close(&memory);
	return exit_code;
}

const struct command cli_explain = {
	"explain", run_explain,
	"PID [--duration TIME | --once | --freeze TIME] [--json] [--html FILE]",
	"say what the memory of a process consists of, and why it is so large",
	"Reads the allocator's own structures and the kernel's page tables from outside, twice, "
	"and "
	"says which\n"
	"part of the resident memory is in use, free but kept, cached, of stacks, files or shared, "
	"and which part\n"
	"grows. Nothing is injected, and no thread is stopped without --freeze.\n"
	"\n"
	"  -s, --duration TIME    from the first look to the last (default: 5s)\n"
	"      --once             look once: says nothing of what grows\n"
	"      --html FILE        also write a page that has it all; the file must not exist\n"
	"      --freeze TIME      " CLI_LOOK_FREEZE_HELP
	"      --json             one JSON object; heapinject(1) has its members\n"};
