/* SPDX-License-Identifier: MIT */
/* cli_session.c - the options of `heapinject attach`, which other commands take, too. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "cli_arguments.h"
#include "cli_functions.h"
#include "cli_push.h"
#include "cli_session.h"
#include "hi_exit.h"
#include "hi_interval.h"
#include "hi_units.h"
#include "session.h"

#define DEFAULT_NS 60000000000u
#define DEFAULT_BUDGET_PPM 10000u
#define BUDGET_UNSET UINT32_MAX
#define LIVE_MAX_MAX (1u << 30)
#define KEEP_MAX 100000u
#define KEEP_DEFAULT 32u /* with triggers: they must not fill a disk */
#define KEEP_UNSET SIZE_MAX

/* of attach, which have no letter */
enum {
	OPTION_EVERY_ALLOC = 256,
	OPTION_AT_PEAK,
	OPTION_AT_RSS,
	OPTION_ON_SIGNAL,
	OPTION_DETACHED,
	OPTION_OTEL,
	OPTION_MMAP,
	OPTION_ALLOC_FN,
	OPTION_FREE_FN,
	OPTION_STREAM,
};

/* that takes these options: attach, or another */
static const char *session_command;

static int parse_keep(const char *text, size_t *out_keep)
{
	uint64_t value;
	const char *end;
	*out_keep = 0;
	if (!strcmp(text, "all"))
		return HI_EXIT_OK;
	if (hi_parse_digits(text, &value, &end) || *end || !value || value > KEEP_MAX)
		return cli_usage_error(session_command,
				       "not a number of profiles to keep (10, all; at most 100000)",
				       text);
	*out_keep = (size_t)value;
	return HI_EXIT_OK;
}

static int parse_amount(const char *text, uint64_t *out_bytes)
{
	return hi_parse_bytes(text, out_bytes)
		       ? cli_usage_error(session_command, "not a number of bytes (512K, 64M, 1G)",
					 text)
		       : HI_EXIT_OK;
}

static int parse_hook(const char *text, enum hi_hook *out_hook)
{
	static const char *const names[] = {
		[HI_HOOK_AUTO] = "auto", [HI_HOOK_SLOT] = "slot", [HI_HOOK_ENTRY] = "entry"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i])) {
			*out_hook = (enum hi_hook)i;
			return HI_EXIT_OK;
		}
	return cli_usage_error(session_command, "not a place to hook (auto, entry, slot)", text);
}

static int parse_attach_option(int option, const struct hi_options *given,
			       struct session_options *options)
{
	const char *value = given->value;

	switch (option) {
	case 's':
		return hi_parse_time(value, &options->duration_ns)
			       ? cli_usage_error(session_command,
						 "not a time (120, 500ms, 1.5s, 1h30m)", value)
			       : HI_EXIT_OK;
	case 'c':
		options->interval = 0;
		return strcmp(value, "auto") != 0 && (hi_parse_bytes(value, &options->interval) ||
						      options->interval > HI_INTERVAL_MOST)
			       ? cli_usage_error(session_command,
						 "not a number of bytes (524288, 512K, 1M, auto; "
						 "at most 1024G)",
						 value)
			       : HI_EXIT_OK;
	case 'b':
		return hi_parse_bytes(value, &options->live_max) || options->live_max > LIVE_MAX_MAX
			       ? cli_usage_error(
					 session_command,
					 "not a number of blocks (1000000, 50M; at most 1G)", value)
			       : HI_EXIT_OK;
	case 'e':
		return hi_parse_time(value, &options->triggers.every_ns)
			       ? cli_usage_error(session_command,
						 "not a time (30, 500ms, 1.5s, 1h30m)", value)
			       : HI_EXIT_OK;
	case 'k':
		return parse_keep(value, &options->keep);
	case 'o':
		options->prefix = value;
		return *value ? HI_EXIT_OK
			      : cli_usage_error(session_command, "the output prefix is empty",
						NULL);
	case 'l':
		if (strcmp(value, "map") != 0 && strcmp(value, "dlopen") != 0)
			return cli_usage_error(session_command, "not a loader (map, dlopen)",
					       value);
		options->loader = strcmp(value, "map") ? HI_LOADER_DLOPEN : HI_LOADER_MAP;
		return HI_EXIT_OK;
	case 'h':
		return parse_hook(value, &options->hook);
	case 'p':
		return cli_parse_prefix(session_command, value, &options->prefixes);
	case 'm':
		options->budget_ppm = 0;
		return strcmp(value, "off") && hi_parse_percent(value, &options->budget_ppm)
			       ? cli_usage_error(session_command, "not a share (1%, 0.2%, off)",
						 value)
			       : HI_EXIT_OK;
	case 'j':
		options->json = !given->is_off;
		return HI_EXIT_OK;
	case 'u':
		options->until_sure = !given->is_off;
		return HI_EXIT_OK;
	case 'f':
		options->fail_if_grows = !given->is_off;
		return HI_EXIT_OK;
	case 'q':
		options->quiet = !given->is_off;
		return HI_EXIT_OK;
	case 'v':
		options->verbose = !given->is_off;
		return HI_EXIT_OK;
	case OPTION_DETACHED:
		options->detached = !given->is_off;
		return HI_EXIT_OK;
	case OPTION_OTEL:
		options->has_probes = !given->is_off;
		return HI_EXIT_OK;
	case OPTION_MMAP:
		options->has_mappings = !given->is_off;
		return HI_EXIT_OK;
	case OPTION_ALLOC_FN:
		return cli_parse_alloc_fn(session_command, value, &options->named);
	case OPTION_FREE_FN:
		return cli_parse_free_fn(session_command, value, &options->named);
	case OPTION_STREAM:
		options->stream_path = value;
		return *value ? HI_EXIT_OK
			      : cli_usage_error(session_command, "the name of --stream is empty",
						NULL);
	case OPTION_EVERY_ALLOC:
		return parse_amount(value, &options->triggers.alloc_bytes);
	case OPTION_AT_PEAK:
		return parse_amount(value, &options->triggers.peak_bytes);
	case OPTION_AT_RSS:
		return triggers_parse_rss(value, &options->triggers)
			       ? cli_usage_error(session_command,
						 "neither bytes nor a share (512M, 4G, 80%)", value)
			       : HI_EXIT_OK;
	case OPTION_ON_SIGNAL:
		return triggers_parse_signal(value, &options->triggers.signal)
			       ? cli_usage_error(session_command,
						 "not a signal to ask by (USR1, USR2, RTMIN+0 to "
						 "RTMAX)",
						 value)
			       : HI_EXIT_OK;
	default:
		return cli_option_error(session_command, option, given);
	}
}

/* Rejects options that contradict each other. */
static int check_attach_options(const struct session_options *options)
{
	const bool streams = options->stream_path || !strcmp(options->prefix, "-");
	char duration[HI_UNITS_TEXT_MAX];
	if (streams && (triggers_are_any(&options->triggers) || options->keep != KEEP_UNSET))
		return cli_usage_error(session_command,
				       "the record stream (-o -, --stream) has no files for "
				       "--every and --keep, nor "
				       "for the other triggers",
				       NULL);
	if (streams && options->push.url)
		return cli_usage_error(
			session_command,
			"the record stream (-o -, --stream) has no profiles for --push", NULL);
	if (streams && (options->json || options->until_sure || options->fail_if_grows))
		return cli_usage_error(
			session_command,
			"the record stream (-o -, --stream) has no answer for --json, "
			"--until-sure and --fail-if-grows",
			NULL);
	if (options->detached && (streams || options->json || options->fail_if_grows))
		return cli_usage_error(
			session_command,
			"--detached returns before there is anything for -o -, --stream, "
			"--json and --fail-if-grows",
			NULL);
	if (options->triggers.every_ns < options->duration_ns || !options->triggers.every_ns ||
	    !options->duration_ns)
		return HI_EXIT_OK;
	return cli_usage_error(session_command,
			       "--every would come only after the end, which is at",
			       hi_format_time(options->duration_ns, duration, sizeof(duration)));
}

#define OPTIONS_MAX 48u

/* Appends them to the `count` that are there, up to the one without a name, which comes last. */
static size_t add_options(struct option all[OPTIONS_MAX], size_t count, const struct option *more)
{
	for (; more->name && count < OPTIONS_MAX - 1; more++)
		all[count++] = *more;
	all[count] = (struct option){0};
	return count;
}

static int parse_any_option(int option, const struct hi_options *given,
			    const struct cli_more_options *more, struct session_options *options)
{
	if (option >= CLI_MORE_OPTIONS)
		return more->parse(more->context, option, given->is_off ? CLI_OFF : given->value);
	if (option >= CLI_PUSH_OPTIONS && option < CLI_PUSH_END)
		return cli_push_parse(session_command, option, given, &options->push);
	return parse_attach_option(option, given, options);
}

int cli_session_parse(int argc, char **argv, bool in_order, const struct cli_more_options *more,
		      struct session_options *options, int *out_next)
{
	static const struct option long_options[] = {
		{"duration", required_argument, NULL, 's'},
		{"sample", required_argument, NULL, 'c'},
		{"every", required_argument, NULL, 'e'},
		{"every-alloc", required_argument, NULL, OPTION_EVERY_ALLOC},
		{"at-peak", required_argument, NULL, OPTION_AT_PEAK},
		{"at-rss", required_argument, NULL, OPTION_AT_RSS},
		{"on-signal", required_argument, NULL, OPTION_ON_SIGNAL},
		{"keep", required_argument, NULL, 'k'},
		{"max-kept", required_argument, NULL, 'k'},
		{"output", required_argument, NULL, 'o'},
		{"stream", required_argument, NULL, OPTION_STREAM},
		{"hook", required_argument, NULL, 'h'},
		{"prefix", required_argument, NULL, 'p'},
		{"loader", required_argument, NULL, 'l'},
		{"max-overhead", required_argument, NULL, 'm'},
		{"live-max", required_argument, NULL, 'b'},
		{"until-sure", no_argument, NULL, 'u'},
		{"json", no_argument, NULL, 'j'},
		{"fail-if-grows", no_argument, NULL, 'f'},
		{"detached", no_argument, NULL, OPTION_DETACHED},
		{"otel", no_argument, NULL, OPTION_OTEL},
		{"mmap", no_argument, NULL, OPTION_MMAP},
		{"alloc-fn", required_argument, NULL, OPTION_ALLOC_FN},
		{"free-fn", required_argument, NULL, OPTION_FREE_FN},
		{"quiet", no_argument, NULL, 'q'},
		{"verbose", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	struct option all[OPTIONS_MAX];
	const size_t own = add_options(all, add_options(all, 0, long_options), cli_push_options);
	if (more)
		(void)add_options(all, own, more->known);
	struct hi_options given = {.argc = argc,
				   .argv = argv,
				   .known = all,
				   .letters = "s:c:o:qv",
				   .in_order = in_order,
				   .next = 1};
	session_command = argv[0];
	for (int option; (option = hi_options_next(&given)) != HI_OPTIONS_END;) {
		int exit_code = parse_any_option(option, &given, more, options);
		if (exit_code != HI_EXIT_OK)
			return exit_code;
	}
	*out_next = given.next;
	return HI_EXIT_OK;
}

/*
 * If the user names a rate, it is used unchanged. Otherwise the rate adapts to the process.
 */
static void choose_rate(struct session_options *options)
{
	if (options->budget_ppm == BUDGET_UNSET)
		options->budget_ppm = options->interval ? 0 : DEFAULT_BUDGET_PPM;
	if (!options->interval && options->budget_ppm)
		options->interval_shift = HI_INTERVAL_AUTO_SHIFT;
	if (!options->interval)
		options->interval = options->budget_ppm ? HI_INTERVAL_EXACT : HI_INTERVAL_FIXED;
}

/* Profiles that nobody asked for one by one must not fill a disk. */
static void choose_keep(struct session_options *options)
{
	if (options->keep == KEEP_UNSET)
		options->keep = triggers_are_any(&options->triggers) ? KEEP_DEFAULT : 0;
}

struct session_options cli_session_defaults(void)
{
	return (struct session_options){.duration_ns = DEFAULT_NS,
					.keep = KEEP_UNSET,
					.budget_ppm = BUDGET_UNSET,
					.prefix = "heapinject"};
}

int cli_session_complete(struct session_options *options)
{
	int exit_code = check_attach_options(options);

	if (exit_code == HI_EXIT_OK)
		exit_code = cli_push_complete(session_command, &options->push);
	choose_keep(options);
	choose_rate(options);
	return exit_code;
}
