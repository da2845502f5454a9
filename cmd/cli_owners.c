/* SPDX-License-Identifier: MIT */
/*
 * cli_owners.c - `heapinject owners`: says what keeps the blocks of a running process, and how much
 * each owner retains. Nothing is injected, and no thread is stopped without --freeze.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli_arguments.h"
#include "cli_choice.h"
#include "cli_command.h"
#include "cli_look.h"
#include "heap_snapshot.h"
#include "hi_exit.h"
#include "new_file.h"
#include "owners_print.h"

#define SHOWN_SHARE 100 /* a class of a hundredth of all bytes has a row; in JSON */
#define JSON_SHARE 1000 /* of a thousandth */

struct owning {
	struct cli_look look;
	struct owners owners;
	struct owner_paths paths;
	const char *why, *output; /* NULL: not wanted */
	int file;
	bool json, all, is_output_standard; /* -o - */
	int exit_code;                      /* of what is done without rights */
};

static int parse(int argc, char **argv, struct owning *owning, pid_t *out_pid)
{
	static const struct option long_options[] = {{"why", required_argument, NULL, 'w'},
						     {"output", required_argument, NULL, 'o'},
						     {"all", no_argument, NULL, 'a'},
						     {"json", no_argument, NULL, 'j'},
						     {"html", required_argument, NULL, 'h'},
						     {"freeze", required_argument, NULL, 'f'},
						     {NULL, 0, NULL, 0}};
	struct hi_options given = {
		.argc = argc, .argv = argv, .known = long_options, .letters = "o:", .next = 1};

	for (int option; (option = hi_options_next(&given)) != HI_OPTIONS_END;) {
		if (option == 'w')
			owning->why = given.value;
		else if (option == 'o')
			owning->output = given.value;
		else if (option == 'a')
			owning->all = !given.is_off;
		else if (option == 'j')
			owning->json = !given.is_off;
		else if (option == 'h')
			owning->look.page.path = given.value;
		else if (option != 'f')
			return cli_option_error(argv[0], option, &given);
		else if (cli_look_parse_freeze(argv[0], given.value, &owning->look.freeze_ns))
			return HI_EXIT_USAGE;
	}
	if (owning->why && !*owning->why)
		return cli_usage_error(argv[0], "--why needs an address or a class", NULL);
	owning->is_output_standard = owning->output && !strcmp(owning->output, "-");
	if (owning->is_output_standard && owning->json)
		return cli_usage_error(argv[0], "--json and -o - both need standard output", NULL);
	if (owning->look.page.path && (owning->why || owning->output))
		return cli_usage_error(argv[0], "--html has neither --why nor -o", NULL);
	owning->look.as_json = owning->json;
	return cli_choose_only_process(argc, argv, given.next, out_pid);
}

static int find(struct owning *owning)
{
	struct cli_look *look = &owning->look;
	int err = cli_look_now(look);

	if (!err)
		err = owners_find(&look->inspected, &look->blocks, &look->reader, &owning->owners);
	if (!err && owning->why)
		err = owner_paths_open(&owning->owners, owning->why, &owning->paths);
	return !err && !memory_is_alive(&look->memory) ? -ESRCH : err;
}

static int create_file(struct owning *owning)
{
	owning->file = new_file_create(owning->output);
	if (owning->file < 0) {
		fprintf(stderr, "heapinject: cannot create %s: %s\n", owning->output,
			strerror(-owning->file));
		return HI_EXIT_FAILED;
	}
	owning->look.file = &owning->file;
	return HI_EXIT_OK;
}

/* ---- without rights -------------------------------------------------------------------------- */

static int write_file(const struct owning *owning, const struct owner_names *names, FILE *out)
{
	FILE *file = fdopen(owning->file, "w");
	int err = file ? heap_snapshot_write(names, file) : -ENOMEM;

	if (file && fclose(file) && !err)
		err = -errno;
	if (err)
		fprintf(stderr,
			"heapinject: %s cannot be written: %s; it is incomplete: remove it\n",
			owning->output, strerror(-err));
	else if (!owning->json)
		fprintf(out, "Written: %s; to open it: DevTools of Chrome, Memory, Load\n",
			owning->output);
	return err;
}

static int make_rows(const struct owning *owning, bool as_json, struct owner_rows *out_rows)
{
	const uint64_t bytes = owning->look.blocks.bytes;
	const uint64_t least = owning->all ? 0 : bytes / (as_json ? JSON_SHARE : SHOWN_SHARE);

	return owner_rows_make(&owning->owners, owning->all || as_json ? 0 : CLI_LOOK_ROWS, least,
			       out_rows);
}

/* The table to `out`, or else the snapshot, and the table to standard error. */
static int print_found(const struct owning *owning, const struct owners_found *found, bool as_json,
		       FILE *out)
{
	if (as_json)
		owners_print_json(found, out);
	else
		owners_print(found, owning->is_output_standard ? stderr : out);
	if (owning->is_output_standard)
		return heap_snapshot_write(&found->names, out);
	return owning->output ? write_file(owning, &found->names, out) : 0;
}

static void print(void *context, char *const *type, bool as_json, FILE *out)
{
	struct owning *owning = context;
	struct owners_found found = {
		.pid = owning->look.memory.pid,
		.name = owning->look.name,
		.blocks = &owning->look.blocks,
		.names = {&owning->owners, type},
		.paths = owning->why ? &owning->paths : NULL,
	};
	int err = owning->why ? owner_paths_find(&owning->paths, &found.names) : 0;

	if (!err)
		err = make_rows(owning, as_json, &found.rows);
	if (err)
		fprintf(stderr, "heapinject: nothing can be shown: %s\n", strerror(-err));
	else
		err = print_found(owning, &found, as_json, out);
	owner_rows_close(&found.rows);
	if (err)
		owning->exit_code = HI_EXIT_FAILED;
}

static int run_owners(int argc, char **argv)
{
	static struct owning owning;
	pid_t pid;
	int exit_code = parse(argc, argv, &owning, &pid);

	if (exit_code != HI_EXIT_OK)
		return exit_code;
	owning.look.wants_registers = true;
	int err = cli_look_open(&owning.look, pid);
	if (!err)
		err = find(&owning);
	if (err)
		return cli_look_refused(&owning.look, pid, err);
	if (owning.output && !owning.is_output_standard)
		exit_code = create_file(&owning);
	if (exit_code == HI_EXIT_OK)
		exit_code = cli_look_end(&owning.look, argv[0], print, &owning);
	return exit_code == HI_EXIT_OK ? owning.exit_code : exit_code;
}

const struct command cli_owners = {
	"owners", run_owners,
	"PID [--why ADDRESS|CLASS] [--freeze TIME] [--all] [--json] [-o FILE.heapsnapshot | --html "
	"FILE]",
	"say what keeps the blocks of a process: variables, stacks, and what these retain",
	"Searches the process's memory from outside for pointers to the allocator's blocks in use, "
	"and says which\n"
	"global variable, stack or other memory retains how much: what would be free without it. "
	"Nothing is injected,\n"
	"and no thread is stopped without --freeze.\n"
	"\n"
	"      --why BLOCKS       instead: the shortest paths of pointers to the block that has an "
	"address (0x...), or\n"
	"                         to blocks of a class, as this command or census names it\n"
	"      --freeze TIME      " CLI_LOOK_FREEZE_HELP
	"      --all              all rows, not only the first 30 places and classes of 1 % and "
	"more\n"
	"      --html FILE        also write a page that has it all; the file must not exist\n"
	"      --json             one JSON object; heapinject(1) has its members\n"
	"  -o, --output FILE      also write a heap snapshot for DevTools of Chrome; the file must "
	"not exist;\n"
	"                         -: to standard output, and all else to standard error\n"};
