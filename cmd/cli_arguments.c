/* SPDX-License-Identifier: MIT */
/* cli_arguments.c - see cli_arguments.h. */
#include "cli_arguments.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include "hi_exit.h"
#include "hi_units.h"

int cli_usage_error(const char *command, const char *what, const char *value)
{
	fprintf(stderr, "heapinject %s: %s%s%s; see `heapinject help %s`\n", command, what,
		value ? ": " : "", value ? value : "", command);
	return HI_EXIT_USAGE;
}

int cli_option_error(const char *command, int code, const struct hi_options *given)
{
	char complaint[HI_OPTION_COMPLAINT_MAX];

	return cli_usage_error(command, hi_options_explain(given, code, complaint), NULL);
}

int cli_parse_pid(const char *command, const char *text, pid_t *out_pid)
{
	uint64_t value;
	const char *end;
	if (hi_parse_digits(text, &value, &end) || *end || !value || value > INT32_MAX)
		return cli_usage_error(command, "not a process id", text);
	*out_pid = (pid_t)value;
	return HI_EXIT_OK;
}

int cli_parse_prefix(const char *command, const char *argument, struct hi_prefixes *prefixes)
{
	switch (hi_prefixes_add(prefixes, argument)) {
	case 0:
		return HI_EXIT_OK;
	case -ENOTSUP:
		return cli_usage_error(
			command, "DPDK's functions take other arguments than malloc's", argument);
	case -E2BIG:
		return cli_usage_error(command, "one --prefix too many", argument);
	default:
		return cli_usage_error(
			command,
			"not a prefix of functions (my_; letters, digits and _, at most "
			"31)",
			argument);
	}
}
