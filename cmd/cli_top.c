/* SPDX-License-Identifier: MIT */
/* cli_top.c - `heapinject top`. */
#include "cli_arguments.h"
#include "cli_choice.h"
#include "cli_command.h"
#include "cli_session.h"
#include "hi_exit.h"
#include "top.h"

static int run_top(int argc, char **argv)
{
	pid_t pid = 0;
	const int exit_code = argc > 1 ? cli_choose_only_process(argc, argv, 1, &pid) : HI_EXIT_OK;
	return exit_code == HI_EXIT_OK ? top_run(pid, cli_attach_detached) : exit_code;
}

const struct command cli_top = {
	"top", run_top, "[PID]", "show a session live at the terminal: what grows, and how fast",
	"Shows the session that is attached to PID, and asks before it attaches one. Without PID, "
	"the processes of this\n"
	"machine by growth of their memory, to pick from.\n"
	"\n"
	"Keys: up, down, enter: the whole stack; f: by function or by stack; s: source lines; o: "
	"order; /: filter;\n"
	"d: write a profile; p: pause or resume; D: detach, with the receipt; ?: help; q: quit, "
	"and "
	"the session goes on.\n"
	"NO_COLOR in the environment: no colours. A terminal that cannot be drawn on is refused: "
	"see `heapinject status` and `heapinject report`.\n"};
