/* SPDX-License-Identifier: MIT */
/* cli_detached.c - how screens and pages attach, see cli_session.h. */
#include "cli_session.h"
#include "hi_exit.h"

int cli_attach_detached(pid_t pid)
{
	struct session_options options = cli_session_defaults();
	options.pid = pid;
	options.duration_ns = 0;
	options.detached = true;
	const int exit_code = cli_session_complete(&options);
	return exit_code == HI_EXIT_OK ? session_attach(&options) : exit_code;
}
