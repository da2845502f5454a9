/* SPDX-License-Identifier: MIT */
/* cli_serve.c - `heapinject serve`. */
#include <stdint.h>

#include "cli_arguments.h"
#include "cli_choice.h"
#include "cli_command.h"
#include "cli_inspect.h"
#include "cli_session.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "serve.h"

#define EVERY_DEFAULT_NS UINT64_C(60000000000)
#define EVERY_MIN_NS UINT64_C(1000000000)

enum { OPTION_HOST = 256, OPTION_TOKEN, OPTION_EVERY, OPTION_ALLOW_ATTACH };

static int parse_port(const char *text, uint16_t *out_port)
{
	uint64_t value;
	const char *end;

	if (hi_parse_digits(text, &value, &end) || *end || value > UINT16_MAX)
		return cli_usage_error("serve", "not a port (0 to 65535)", text);
	*out_port = (uint16_t)value;
	return HI_EXIT_OK;
}

static int parse_every(const char *text, uint64_t *out_ns)
{
	if (hi_parse_time(text, out_ns) || *out_ns < EVERY_MIN_NS)
		return cli_usage_error("serve", "not a time of a second or more, as 30s or 5m",
				       text);
	return HI_EXIT_OK;
}

static int parse_pids(struct hi_options *given, struct serve_options *options)
{
	const size_t count = (size_t)(given->argc - given->next);
	int exit_code = HI_EXIT_OK;

	if (count > SERVE_PIDS_MAX)
		return cli_usage_error("serve", "too many processes", NULL);
	for (size_t i = 0; i < count && exit_code == HI_EXIT_OK; i++)
		exit_code = cli_choose_process("serve", given->argv[given->next + (int)i],
					       &options->pid[i]);
	options->pid_count = count;
	return exit_code;
}

static int run_serve(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"port", required_argument, NULL, 'p'},
		{"host", required_argument, NULL, OPTION_HOST},
		{"token", required_argument, NULL, OPTION_TOKEN},
		{"every", required_argument, NULL, OPTION_EVERY},
		{"allow-attach", no_argument, NULL, OPTION_ALLOW_ATTACH},
		{NULL, 0, NULL, 0}};
	static struct serve_options options;
	struct hi_options given = {
		.argc = argc, .argv = argv, .known = long_options, .letters = "p:", .next = 1};
	int exit_code = HI_EXIT_OK;

	options = (struct serve_options){
		.host = "127.0.0.1", .every_ns = EVERY_DEFAULT_NS, .inspect = cli_inspect};
	for (int option; !exit_code && (option = hi_options_next(&given)) != HI_OPTIONS_END;) {
		if (option == 'p')
			exit_code = parse_port(given.value, &options.port);
		else if (option == OPTION_HOST)
			options.host = given.value;
		else if (option == OPTION_TOKEN)
			options.token = given.value;
		else if (option == OPTION_ALLOW_ATTACH)
			options.attach = cli_attach_detached;
		else if (option == OPTION_EVERY)
			exit_code = parse_every(given.value, &options.every_ns);
		else
			return cli_option_error("serve", option, &given);
	}
	if (!exit_code)
		exit_code = parse_pids(&given, &options);
	return exit_code ? exit_code : serve_run(&options);
}

const struct command cli_serve = {
	"serve", run_serve, "[PID...] [--port N]", "serve running sessions to browsers and tools",
	"Serves the sessions that are attached to these processes, or all that you may ask, by "
	"HTTP until it is stopped: a list at /, pages of reports, and what tools fetch. It "
	"attaches to nothing by itself.\n"
	"\n"
	"  -p, --port N           the port; 0 is any that is free (default), and is printed\n"
	"      --host ADDRESS     listen at this address of the machine (127.0.0.1); all of them: "
	"0.0.0.0 or ::\n"
	"      --token FILE|-     who asks has to know the first line of FILE, or of standard "
	"input: as \"Authorization: Bearer TOKEN\", or as the password of any user. Without it, an "
	"address that others reach gets a token that is new and printed once\n"
	"      --every TIME       how often a profile of each session is kept, to be compared: "
	"30s, "
	"5m (1m); the last 32 are\n"
	"      --allow-attach     pages may attach to the processes that are served, as "
	"`attach "
	"--detached` does, and detach\n"
	"\n"
	"For the session of PID, below /pid/PID, and without that for the only session, or the "
	"first PID:\n"
	"  /                             the live page, and the table for curl; bare, a list\n"
	"  /report                       the page of reports, and the table for curl;\n"
	"      ?view=TIME&base=TIME      of a profile that was kept, and less another one;\n"
	"      &display_type=TYPE        flame, text, tree, dot, collapsed, leaks, heap, pprof;\n"
	"      &sample_type=TYPE         inuse_space, inuse_objects, alloc_space, alloc_objects\n"
	"  /profiles                     the times of the profiles that are kept\n"
	"  /text                         the table\n"
	"  /debug/pprof/heap, allocs     for go tool pprof, Parca, Alloy; ?seconds=N: what "
	"changes "
	"meanwhile\n"
	"  /pprof/heap                   for google-pprof and jeprof\n"
	"  .../growth, .../symbol, .../cmdline  what these tools ask besides\n"
	"Below /pid/PID alone, JSON, and text for curl:\n"
	"  /explain, /census, /leaks, /owners  what these commands say; ?seconds=N: --duration\n"
	"And /metrics for Prometheus.\n"};
