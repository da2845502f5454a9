/* SPDX-License-Identifier: MIT */
/* cli_look.c - see cli_look.h. */
#include "cli_look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "cli_arguments.h"
#include "cli_choice.h"
#include "clock.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "plain_text.h"
#include "refused.h"
#include "session_profile.h"
#include "type_names.h"

#define SECOND_NS 1000000000ull
#define FREEZE_NS_MAX (60 * SECOND_NS)
#define WALK_NS_MAX (60 * SECOND_NS) /* of one look */

int cli_look_parse(int argc, char **argv, struct cli_look_options *options, pid_t *out_pid)
{
	const struct option long_options[] = {
		{"json", no_argument, NULL, 'j'},
		{"show-data", no_argument, NULL, 'd'},
		{"all", no_argument, NULL, 'a'},
		{"duration", required_argument, NULL, 's'},
		{"html", required_argument, NULL, 'h'},
		{"freeze", required_argument, NULL, 'f'},
		{options->pins ? "pins" : NULL, no_argument, NULL, 'p'},
		{options->owner ? "owner" : NULL, no_argument, NULL, 'o'},
		{NULL, 0, NULL, 0},
	};
	struct hi_options given = {
		.argc = argc, .argv = argv, .known = long_options, .letters = "s:", .next = 1};

	bool is_watched = false;

	for (int option; (option = hi_options_next(&given)) != HI_OPTIONS_END;) {
		switch (option) {
		case 'j':
			options->json = !given.is_off;
			break;
		case 'd':
			options->show_data = !given.is_off;
			break;
		case 'a':
			options->all = !given.is_off;
			break;
		case 'p':
			*options->pins = !given.is_off;
			break;
		case 'h':
			options->html = given.value;
			break;
		case 'o':
			*options->owner = !given.is_off;
			break;
		case 'f':
			if (cli_look_parse_freeze(argv[0], given.value, &options->freeze_ns))
				return HI_EXIT_USAGE;
			break;
		case 's':
			if (hi_parse_time(given.value, &options->watch_ns))
				return cli_usage_error(argv[0], "no duration", given.value);
			is_watched = true;
			break;
		default:
			return cli_option_error(argv[0], option, &given);
		}
	}
	if (options->freeze_ns && is_watched)
		return cli_usage_error(argv[0], CLI_LOOK_FREEZES_ONCE, NULL);
	return cli_choose_only_process(argc, argv, given.next, out_pid);
}

int cli_look_parse_freeze(const char *command, const char *value, uint64_t *out_ns)
{
	uint64_t ns;

	if (hi_parse_time(value, &ns) || ns < FROZEN_BOUND_NS_MIN || ns > FREEZE_NS_MAX)
		return cli_usage_error(command, "--freeze takes a time from 10ms to 1m", value);
	*out_ns = ns;
	return HI_EXIT_OK;
}

int cli_look_open(struct cli_look *look, pid_t pid)
{
	struct proc_status status;

	snprintf(look->name, sizeof(look->name), "?");
	if (!proc_status_read(pid, 0, &status))
		plain_text_copy(look->name, sizeof(status.comm) + 1, status.comm);
	return inspected_memory(pid, &look->memory);
}

static int look_once(struct cli_look *look)
{
	struct inspected *inspected = &look->inspected;

	used_blocks_close(&look->blocks);
	inspected_close(inspected);
	int err = inspected_open(inspected, &look->memory, clock_now_ns() + WALK_NS_MAX);
	if (!err)
		err = used_blocks_find(&inspected->source, look->also, &look->blocks);
	if (!err && !look->reader.types.source)
		type_infos_open(&look->reader.types, &inspected->source);
	block_index_close(&look->reader.index);
	if (!err)
		err = block_index_open(&look->reader.index, look->blocks.block, look->blocks.count);
	return err;
}

/* Looks at a copy of the process as it is now. */
static int look_frozen(struct cli_look *look)
{
	const struct frozen_want want = {.bound_ns = look->freeze_ns,
					 .registers = look->wants_registers};

	look->memory.copy = NULL;
	const int err = frozen_take(&look->memory, &want, &look->frozen);
	if (err)
		return err;
	look->memory.copy = &look->frozen.copy;
	return look_once(look);
}

/*
 * A thread that was stopped within the allocator may have left some of it half done: then it is
 * another moment's turn.
 */
int cli_look_now(struct cli_look *look)
{
	int err = look->freeze_ns ? 0 : look_once(look);

	for (unsigned i = 0; look->freeze_ns && i < CLI_LOOK_FREEZES && !err; i++) {
		err = look_frozen(look);
		if (!look->blocks.unsure_bytes || look->frozen.has_swapped)
			break;
	}
	return err;
}

int cli_look_refused(const struct cli_look *look, pid_t pid, int err)
{
	return *look->frozen.why ? refused_freeze(pid, err, look->frozen.why)
				 : refused_print(pid, err);
}

int cli_look_stacks(struct cli_look *look, const struct mark_block *block, size_t count,
		    const uint32_t *group, struct stack_rows *out_rows)
{
	static struct preflight preflight; /* large */
	int fd;

	*out_rows = (struct stack_rows){0};
	/* why no session answers is not asked: that touches pages of the process */
	if (!arena_find(&look->inspected.maps))
		return 0;
	if (session_blocks(look->memory.pid, &fd, &preflight) != HI_EXIT_OK)
		return 0;
	const int err = known_stacks_read(fd, &look->stacks);

	close(fd);
	if (err == -ENOMEM)
		return err;
	if (err) {
		fputs("heapinject: what the session knows of stacks cannot be read\n", stderr);
		return 0;
	}
	return stack_rows_find(&look->stacks, block, count, group, out_rows);
}

/* What print_json() of the page needs. */
struct printing {
	cli_look_print *print;
	void *context;
	char *const *type;
};

static void print_json(const void *context, FILE *out)
{
	const struct printing *printing = context;

	printing->print(printing->context, printing->type, true, out);
}

/* Without rights. Returns an exit code. */
static int print_all(const struct cli_look *look, const char *command,
		     const struct printing *printing, FILE *out)
{
	int exit_code = HI_EXIT_OK;

	printing->print(printing->context, printing->type, look->as_json, out);
	if (look->page.path)
		exit_code = cli_page_write(&look->page, command, print_json, printing);
	if (look->page.path && !exit_code && !look->as_json)
		fprintf(out, "Written: %s\n", look->page.path);
	const bool is_lost = ferror(out);
	const char *why = fclose(out) ? strerror(errno) : is_lost ? "some of it is lost" : NULL;

	if (why)
		fprintf(stderr, "heapinject: standard output cannot be written: %s\n", why);
	return why ? HI_EXIT_FAILED : exit_code;
}

int cli_look_end(struct cli_look *look, const char *command, cli_look_print *print, void *context)
{
	const struct type_infos *types = &look->reader.types;
	char **readable = calloc(types->count + 1, sizeof(*readable));

	if (look->page.path) {
		if (cli_page_create(&look->page))
			return HI_EXIT_FAILED;
		look->file = &look->page.fd;
	}
	FILE *out = type_names_give_up_rights(look->file);

	if (!out || !readable) {
		fputs("heapinject: cannot give up its rights to print names of the process\n",
		      stderr);
		return HI_EXIT_FAILED;
	}
	for (size_t i = 0; i < types->count; i++)
		readable[i] = type_names_readable(types->name[i]);
	const struct printing printing = {print, context, readable};
	const int exit_code = print_all(look, command, &printing, out);

	return exit_code || used_blocks_are_known(&look->blocks) ? exit_code : HI_EXIT_UNSURE;
}
