/* SPDX-License-Identifier: MIT */
/*
 * viewer_requests.c - what the screen of a session has other processes do: looks at the session,
 * and requests to it. See viewer.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hi_exit.h"
#include "session.h"
#include "viewer.h"

#define REST_NS 2000000000ull /* between two looks, at least */
#define REST_TIMES 20         /* in times of what a look takes */
#define REST_MAX_NS 60000000000ull

void viewer_say(struct viewer *viewer, const char *text)
{
	snprintf(viewer->message, sizeof(viewer->message), "%s", text);
	for (size_t size = strlen(viewer->message); size && viewer->message[size - 1] == '\n';
	     size--)
		viewer->message[size - 1] = 0;
}

/* ---- looks ----------------------------------------------------------------------------------- */

void viewer_begin_look(struct viewer *viewer, uint64_t now_ns)
{
	if (viewer->glance_job.pid)
		return;
	viewer->began_ns = now_ns;
	viewer->next_ns = now_ns + REST_MAX_NS;
	const int err = glance_start(&viewer->glance_job, &viewer->pid);
	if (err)
		viewer_say(viewer, strerror(-err));
}

static void rest(struct viewer *viewer, uint64_t now_ns)
{
	uint64_t rest_ns = (now_ns - viewer->began_ns) * REST_TIMES;

	rest_ns = rest_ns < REST_NS ? REST_NS : rest_ns > REST_MAX_NS ? REST_MAX_NS : rest_ns;
	viewer->next_ns = now_ns + rest_ns;
}

/* There is no session, or it does not answer. */
static void end_watch(struct viewer *viewer)
{
	const struct job *job = &viewer->glance_job;
	const bool is_first = viewer->phase == VIEWER_JOINS,
		   has_exited = job->exit_code == GLANCE_NO_PROCESS,
		   is_none = job->exit_code == GLANCE_NO_SESSION;

	if (is_first && is_none && viewer->attach) {
		viewer->phase = VIEWER_OFFERS;
		viewer_say(
			viewer,
			"No session is attached to it. As `heapinject attach --detached` does, top "
			"can "
			"attach one: it samples within 1% of the process's CPU time, writes "
			"./heapinject.PID.NNNN.heap, .pb.gz and .log here, and goes on until it is "
			"detached (D, or `heapinject detach PID`).");
		return;
	}
	if (is_first || is_none || has_exited)
		viewer->phase = VIEWER_OVER;
	if ((is_none || has_exited) && !is_first) {
		viewer->is_begun = false;
		if (!viewer->receipt)
			viewer_say(viewer, has_exited ? "The process has ended, and the session "
							"with it; what is shown is the last look."
						      : "The session has ended; what is shown is "
							"the last look at it.");
	} else {
		viewer_say(viewer, job->bytes ? job->bytes : "the session cannot be looked at");
	}
}

bool viewer_end_look(struct viewer *viewer, uint64_t now_ns)
{
	const struct job *job = &viewer->glance_job;
	const int err = glance_read(job->bytes, job->size, &viewer->glance);

	rest(viewer, now_ns);
	if (err == -EPROTO && viewer->phase != VIEWER_OVER)
		end_watch(viewer);
	else if (err == -ENOMEM)
		viewer_say(viewer, "out of memory");
	if (err)
		return false;
	viewer->looked_ns = now_ns;
	if (viewer->phase == VIEWER_JOINS)
		viewer->phase = VIEWER_LIVE;
	return true;
}

/* ---- requests -------------------------------------------------------------------------------- */

static int work(void *context)
{
	const struct viewer *viewer = context;

	switch (viewer->request) {
	case REQUEST_DUMP:
		return session_ask(viewer->pid, "dump", NULL);
	case REQUEST_PAUSE:
		return session_ask(viewer->pid, viewer->glance.status.paused ? "resume" : "pause",
				   NULL);
	case REQUEST_DETACH:
		return session_detach(viewer->pid, NULL);
	case REQUEST_BEGIN:
		return viewer->attach(viewer->pid);
	default:
		return HI_EXIT_FAILED;
	}
}

void viewer_begin_request(struct viewer *viewer, enum viewer_request request)
{
	static const char *const texts[] = {
		[REQUEST_NONE] = "",
		[REQUEST_DUMP] = "writing a profile ...",
		[REQUEST_PAUSE] = "...",
		[REQUEST_DETACH] = "detaching ...",
		[REQUEST_BEGIN] = "attaching ...",
	};

	if (viewer->request_job.pid) {
		viewer_say(viewer, "one after the other: the last request is not done yet");
		return;
	}
	viewer->request = request;
	const int err = job_start(&viewer->request_job, work, viewer);
	viewer_say(viewer, err ? strerror(-err) : texts[request]);
}

void viewer_end_request(struct viewer *viewer, uint64_t now_ns)
{
	const struct job *job = &viewer->request_job;
	const char *text = job->bytes ? job->bytes : "";
	const bool is_done = job->exit_code == HI_EXIT_OK;

	if (viewer->request == REQUEST_DETACH && is_done) {
		viewer->phase = VIEWER_OVER;
		viewer->is_begun = false;
		free(viewer->receipt);
		viewer->receipt = strdup(text);
		page_open(&viewer->page, "Detached", text);
		viewer_say(viewer, "Detached. What is shown is the last look at the session.");
	} else if (viewer->request == REQUEST_BEGIN) {
		viewer->phase = is_done ? VIEWER_JOINS : VIEWER_OVER;
		viewer->is_begun = is_done;
		viewer_say(viewer, is_done ? "" : text);
		if (!is_done && page_lines(viewer->message) > 3)
			page_open(&viewer->page, "It could not be attached to", text);
	} else {
		/* the next look says so, too, but the next key may come before it */
		if (viewer->request == REQUEST_PAUSE && is_done)
			viewer->glance.status.paused = !viewer->glance.status.paused;
		viewer_say(viewer, text);
	}
	viewer->next_ns = now_ns;
}
