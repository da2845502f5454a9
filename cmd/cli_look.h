/* SPDX-License-Identifier: MIT */
/*
 * cli_look.h - what the commands share that look at the blocks of a process from outside: options,
 * the blocks, and the end without rights.
 */
#ifndef HI_CLI_LOOK_H
#define HI_CLI_LOOK_H

#include <stdbool.h>
#include <stdio.h>

#include "cli_page.h"
#include "content.h"
#include "frozen.h"
#include "inspected.h"
#include "stack_rows.h"
#include "used_blocks.h"

#define CLI_LOOK_ROWS 30u
#define CLI_LOOK_FREEZES 3u /* at most, until nothing of the allocator is half done */
#define CLI_LOOK_FREEZE_HELP                                                               \
	"look at a copy of its memory, for which all threads are stopped for so long at\n" \
	"                         most (10ms to 1m): exact, and said how long it was\n"
#define CLI_LOOK_FREEZES_ONCE "--freeze looks once: not with --duration"

struct cli_look_options {
	bool json, show_data, all;
	const char *html;   /* the file; NULL = none */
	uint64_t watch_ns;  /* between two looks */
	uint64_t freeze_ns; /* at most; 0: the process runs on */
	/* what --pins and --owner set; NULL: the command does not have it */
	bool *pins, *owner;
};

/* All that is read of the process. Zero-initialized = nothing. */
struct cli_look {
	struct memory memory;
	uint64_t freeze_ns;   /* as in the options */
	bool wants_registers; /* of threads that are stopped */
	struct frozen frozen; /* what was copied then */
	struct inspected inspected;
	struct used_blocks blocks;
	struct content_reader reader;
	struct known_stacks stacks;      /* of the session that is attached, if there is one */
	const struct heap_visitor *also; /* sees the walk of the heaps, too; NULL: nobody does */
	char name[32];                   /* of the program */
	bool as_json;
	struct cli_page page;
	int *file; /* stays open without rights, see cli_look_end; NULL: there is none */
};

/* Parses options anywhere among the arguments, and the pid. HI_EXIT_OK or HI_EXIT_USAGE. */
int cli_look_parse(int argc, char **argv, struct cli_look_options *options, pid_t *out_pid);
must_check int cli_look_open(struct cli_look *look, pid_t pid);
/* Says why the process cannot be looked at. Returns an exit code. */
int cli_look_refused(const struct cli_look *look, pid_t pid, int err);
/* Parses the time of --freeze. HI_EXIT_OK or HI_EXIT_USAGE. */
int cli_look_parse_freeze(const char *command, const char *value, uint64_t *out_ns);
/* Finds the blocks in use as they are now. */
must_check int cli_look_now(struct cli_look *look);
/*
 * By which stacks these blocks were allocated, if a session is attached. group: by block. Without
 * one, and if it does not answer, nothing is known. 0 or -ENOMEM.
 */
must_check int cli_look_stacks(struct cli_look *look, const struct mark_block *block, size_t count,
			       const uint32_t *group, struct stack_rows *out_rows);

/* type: readable names of classes, by number. */
typedef void cli_look_print(void *context, char *const *type, bool as_json, FILE *out);
/*
 * Gives up all rights and prints; and again, as JSON, for the page of --html. Returns an exit code,
 * of what is known of blocks, too; the process has to end with it. command: its name.
 */
int cli_look_end(struct cli_look *look, const char *command, cli_look_print *print, void *context);

#endif
