/* SPDX-License-Identifier: MIT */
/* cli_push.c - see cli_push.h. */
#include "cli_push.h"

#include "cli_arguments.h"
#include "hi_exit.h"
#include "hi_units.h"

enum {
	OPTION_PUSH = CLI_PUSH_OPTIONS,
	OPTION_PROTOCOL,
	OPTION_LABEL,
	OPTION_TOKEN,
	OPTION_TENANT,
	OPTION_SPOOL,
	OPTION_SPOOL_MAX,
	OPTION_WAIT,
	OPTION_PLAIN,
	OPTION_EXPERIMENTAL,
};

const struct option cli_push_options[] = {
	{"push", required_argument, NULL, OPTION_PUSH},
	{"push-protocol", required_argument, NULL, OPTION_PROTOCOL},
	{"push-label", required_argument, NULL, OPTION_LABEL},
	{"push-token", required_argument, NULL, OPTION_TOKEN},
	{"push-tenant", required_argument, NULL, OPTION_TENANT},
	{"push-spool", required_argument, NULL, OPTION_SPOOL},
	{"push-spool-max", required_argument, NULL, OPTION_SPOOL_MAX},
	{"push-wait", required_argument, NULL, OPTION_WAIT},
	{"push-plain", no_argument, NULL, OPTION_PLAIN},
	{"experimental", no_argument, NULL, OPTION_EXPERIMENTAL},
	{NULL, 0, NULL, 0},
};

int cli_push_parse(const char *command, int option, const struct hi_options *given,
		   struct push_options *options)
{
	const char *value = given->value, *why;

	switch (option) {
	case OPTION_PUSH:
		options->url = value;
		return HI_EXIT_OK;
	case OPTION_PROTOCOL:
		return push_options_parse_protocol(value, &options->protocol)
			       ? cli_usage_error(command, "not a protocol (pyroscope, parca, otlp)",
						 value)
			       : HI_EXIT_OK;
	case OPTION_LABEL:
		why = push_options_add_label(options, value);
		return why ? cli_usage_error(command, why, value) : HI_EXIT_OK;
	case OPTION_TOKEN:
		options->token_file = value;
		return HI_EXIT_OK;
	case OPTION_TENANT:
		options->tenant = value;
		return HI_EXIT_OK;
	case OPTION_SPOOL:
		options->spool = value;
		return *value ? HI_EXIT_OK
			      : cli_usage_error(command, "a directory's name is empty", NULL);
	case OPTION_SPOOL_MAX:
		return hi_parse_bytes(value, &options->spool_bytes)
			       ? cli_usage_error(command, "not a number of bytes (64M, 1G)", value)
			       : HI_EXIT_OK;
	case OPTION_WAIT:
		options->has_wait = true;
		options->wait_ns = 0;
		return strcmp(value, "0") && hi_parse_time(value, &options->wait_ns)
			       ? cli_usage_error(command, "not a time (0, 10s, 1m)", value)
			       : HI_EXIT_OK;
	case OPTION_EXPERIMENTAL:
		options->is_experimental = !given->is_off;
		return HI_EXIT_OK;
	default:
		options->is_plain = !given->is_off;
		return HI_EXIT_OK;
	}
}

int cli_push_complete(const char *command, struct push_options *options)
{
	const char *value, *why = push_options_complete(options, &value);

	return why ? cli_usage_error(command, why, value) : HI_EXIT_OK;
}
