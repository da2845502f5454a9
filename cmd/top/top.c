/* SPDX-License-Identifier: MIT */
/* top.c - see top.h. */
#include "top.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "events.h"
#include "hi_exit.h"
#include "pick.h"
#include "screen.h"
#include "viewer.h"

/* Lines of other processes, without what could control the terminal. */
static void print_plain(const char *text)
{
	for (; *text; text++)
		putchar(*text == '\n' || (*text >= ' ' && *text <= '~') ? *text : '?');
}

/* What stays to be said once the terminal is as it was. */
static void say_what_stays(const struct viewer *viewer)
{
	if (viewer->receipt)
		print_plain(viewer->receipt);
	if (viewer->is_begun || viewer->phase == VIEWER_BEGINS)
		fprintf(stderr,
			"heapinject: the session that top began goes on; heapinject detach %d ends "
			"it\n",
			(int)viewer->pid);
}

static void run(pid_t pid, int (*attach)(pid_t pid), struct events *events, struct viewer *viewer)
{
	const bool can_pick = !pid;
	bool goes_back;

	do {
		if (can_pick)
			pid = pick_run(events);
		viewer_close(viewer);
		*viewer = (struct viewer){.pid = pid,
					  .attach = attach,
					  .glance_job = JOB_NONE,
					  .request_job = JOB_NONE};
		goes_back = pid && viewer_run(viewer, events);
	} while (goes_back && can_pick);
}

/* Ends by the signal that asked for it, so that a shell sees it. */
static void end_by(int number)
{
	sigset_t one;

	fflush(NULL);
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}

int top_run(pid_t pid, int (*attach)(pid_t pid))
{
	static struct viewer viewer = {.glance_job = {.fd = -1}, .request_job = {.fd = -1}};
	struct events events;
	const int exit_code = screen_check();

	if (exit_code != HI_EXIT_OK)
		return exit_code;
	if (events_open(&events)) {
		fprintf(stderr, "heapinject top: cannot wait for signals\n");
		return HI_EXIT_FAILED;
	}
	const int opened = screen_open();
	if (opened == HI_EXIT_OK) {
		run(pid, attach, &events, &viewer);
		screen_close();
		say_what_stays(&viewer);
		viewer_close(&viewer);
	}
	close(events.signal_fd);
	if (events.ended_by)
		end_by(events.ended_by);
	return opened;
}
