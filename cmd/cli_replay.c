/* SPDX-License-Identifier: MIT */
/*
 * cli_replay.c - `heapinject replay`: what a recording would take with another allocator. The work
 * is in trial/: "replay" is the reading of a stream elsewhere in this project.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_arguments.h"
#include "cli_command.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "trial_print.h"

#define TIMEOUT_NS 600000000000u
#define DROPPED_MAX 0.05 /* with more the figures would say nothing */

struct options {
	const char *file;
	struct allocators allocators;
	uint64_t timeout_ns, memory_bytes; /* memory 0: what is available */
	bool json, quiet;
};

static int parse_option(int option, const struct hi_options *given, struct options *options)
{
	const char *why;

	switch (option) {
	case 'a':
		why = trial_allocators_add(&options->allocators, given->value);
		return why ? cli_usage_error("replay", why, given->value) : HI_EXIT_OK;
	case 't':
		return hi_parse_time(given->value, &options->timeout_ns)
			       ? cli_usage_error("replay", "not a time (120, 10m)", given->value)
			       : HI_EXIT_OK;
	case 'm':
		return hi_parse_bytes(given->value, &options->memory_bytes)
			       ? cli_usage_error("replay", "not a number of bytes (512M, 4G)",
						 given->value)
			       : HI_EXIT_OK;
	case 'j':
		options->json = !given->is_off;
		return HI_EXIT_OK;
	case 'q':
		options->quiet = !given->is_off;
		return HI_EXIT_OK;
	default:
		return cli_option_error("replay", option, given);
	}
}

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {{"allocator", required_argument, NULL, 'a'},
					      {"timeout", required_argument, NULL, 't'},
					      {"max-memory", required_argument, NULL, 'm'},
					      {"json", no_argument, NULL, 'j'},
					      {"quiet", no_argument, NULL, 'q'},
					      {NULL, 0, NULL, 0}};
	struct hi_options given = {
		.argc = argc, .argv = argv, .known = known, .letters = "q", .next = 1};

	for (int option; (option = hi_options_next(&given)) != HI_OPTIONS_END;) {
		const int exit_code = parse_option(option, &given, options);
		if (exit_code != HI_EXIT_OK)
			return exit_code;
	}
	if (given.next >= argc)
		return cli_usage_error("replay", "which record stream? give its file", NULL);
	if (given.next + 1 < argc)
		return cli_usage_error("replay", "one argument too many", argv[given.next + 1]);
	options->file = argv[given.next];
	return HI_EXIT_OK;
}

static int complain(const struct options *options, const char *what, const char *remedy)
{
	fprintf(stderr, "heapinject replay: %s: %s%s%s\n", options->file, what, remedy ? "; " : "",
		remedy ? remedy : "");
	return HI_EXIT_FAILED;
}

#define RECORD_AGAIN \
	"record every allocation: `heapinject run --sample 1 --stream FILE COMMAND`, or attach"

static int explain_refusal(const struct options *options, const struct hi_trial_head *head)
{
	switch (head->refusal) {
	case HI_TRIAL_SAMPLED:
		return complain(options,
				"not every allocation is in it, so they cannot be made again",
				RECORD_AGAIN);
	case HI_TRIAL_EMPTY:
		return complain(options, "no allocation is in it",
				"record it while the program works");
	case HI_TRIAL_NO_MEMORY:
		return complain(options, "there is not enough memory to read it", NULL);
	case HI_TRIAL_NOT_WRITTEN:
		return complain(options, strerror(-head->err),
				"its events need room in $TMPDIR or /tmp");
	default:
		return complain(options, *head->text ? head->text : "it cannot be read",
				RECORD_AGAIN);
	}
}

/* Refuses what would say nothing, or harm this machine. */
static int check(const struct options *options, const struct hi_trial_head *head,
		 uint64_t available)
{
	const double events = (double)(head->allocations + head->reallocs + head->frees),
		     lost = (double)head->dropped;
	char what[160], most[HI_UNITS_TEXT_MAX], left[HI_UNITS_TEXT_MAX];

	if (lost > DROPPED_MAX * (lost + events)) {
		snprintf(what, sizeof(what),
			 "%.0f%% of the records were lost, as the reader did "
			 "not keep up",
			 100 * lost / (lost + events));
		return complain(options, what, "record it on a quieter machine, or with less load");
	}
	if (head->most_bytes > available) {
		snprintf(what, sizeof(what), "its program had %s in use, and may have %s here",
			 hi_format_bytes((double)head->most_bytes, most, sizeof(most)),
			 hi_format_bytes((double)available, left, sizeof(left)));
		return complain(options, what,
				options->memory_bytes ? "give it more by --max-memory"
						      : "replay it on a machine with more memory");
	}
	return HI_EXIT_OK;
}

static int run_trials(const struct options *options, const struct trial_list *list,
		      struct trial_progress *progress)
{
	static struct trial trial[ALLOCATORS_MAX];
	const uint64_t available = trial_available();
	const struct trial_results results = {
		.head = &list->head,
		.allocators = &options->allocators,
		.trial = trial,
		.limits = {.memory_bytes =
				   options->memory_bytes && options->memory_bytes < available
					   ? options->memory_bytes
					   : available,
			   .time_ns = options->timeout_ns}};
	size_t done = 0;
	const int exit_code = check(options, &list->head, results.limits.memory_bytes);

	if (exit_code != HI_EXIT_OK)
		return exit_code;
	for (size_t i = 0; i < options->allocators.count; i++) {
		trial_run(list, &options->allocators.one[i], &results.limits, progress, &trial[i]);
		done += trial[i].outcome == TRIAL_DONE;
	}
	trial_progress_close(progress);
	if (options->json)
		trial_print_json(&results, stdout);
	else
		trial_print(&results, stdout);
	return !done ? HI_EXIT_FAILED : *list->head.text ? HI_EXIT_UNSURE : HI_EXIT_OK;
}

static int replay(const struct options *options, int stream_fd)
{
	struct trial_progress progress;
	struct trial_list list;

	trial_progress_open(&progress, options->quiet);
	const int err = trial_list_open(&list, stream_fd, &progress);
	int exit_code;
	if (err)
		trial_progress_close(&progress);
	if (err == -ENODATA)
		exit_code = explain_refusal(options, &list.head);
	else if (err)
		exit_code = complain(options,
				     err == -EPROTO ? "the process that reads it has ended"
						    : strerror(-err),
				     NULL);
	else
		exit_code = run_trials(options, &list, &progress);
	trial_progress_close(&progress);
	trial_list_close(&list);
	return exit_code;
}

static int run_replay(int argc, char **argv)
{
	static struct options options = {.timeout_ns = TIMEOUT_NS};
	int exit_code = parse(argc, argv, &options);

	if (exit_code != HI_EXIT_OK)
		return exit_code;
	if (!options.allocators.count)
		trial_allocators_add_all(&options.allocators);
	if (!strcmp(options.file, "-"))
		return replay(&options, STDIN_FILENO);
	const int stream_fd = open(options.file, O_RDONLY | O_CLOEXEC);
	struct stat file;

	if (stream_fd < 0)
		return complain(&options, strerror(errno), NULL);
	if (!fstat(stream_fd, &file) && S_ISDIR(file.st_mode))
		exit_code = complain(&options, strerror(EISDIR), NULL);
	else
		exit_code = replay(&options, stream_fd);
	close(stream_fd);
	return exit_code;
}

const struct command cli_replay = {
	"replay", run_replay,
	"FILE|- [--allocator NAME|PATH]... [--timeout TIME] [--max-memory BYTES] [--json] [-q]",
	"make the allocations of a recording again with other allocators",
	"Makes the allocations and frees of an exact session again, with each allocator in a "
	"process "
	"of its own, and shows\n"
	"how much memory that takes. FILE is a record stream, as `run --sample 1 --stream FILE` "
	"and "
	"`attach PID -c 1 -o -` write it.\n"
	"\n"
	"      --allocator NAME   only this one: glibc (with 1, 2 and 8 arenas), jemalloc, "
	"tcmalloc, "
	"mimalloc; or the path of\n"
	"                         a library that is preloaded, with a slash in it; again for "
	"another\n"
	"      --timeout TIME     give an allocator up after that time: 30s, 20m (default 10m)\n"
	"      --max-memory BYTES  give it up if it takes more: 2G (default nine tenths of what is "
	"available)\n"
	"      --json             one JSON object; heapinject(1) has its members\n"
	"  -q, --quiet            no progress\n"};
