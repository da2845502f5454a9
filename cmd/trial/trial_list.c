/* SPDX-License-Identifier: MIT */
/* trial_list.c - see trial_list.h. */
#include "trial_list.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "hi_analyzer.h"
#include "identity.h"
#include "sandbox.h"

#define POLL_NS 20000000u

/* In $TMPDIR or /tmp: it may be larger than memory. */
static int open_unnamed(void)
{
	const char *directory = getenv("TMPDIR");
	const int fd = open(directory && *directory ? directory : "/tmp",
			    O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : memfd_create("heapinject-events", MFD_CLOEXEC);
}

_Noreturn static void read_stream(int stream_fd, int list_fd)
{
	int *const kept[] = {&stream_fd, &list_fd};
	struct sandbox_state state;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (sandbox_keep(kept, 2) ||
	    sandbox_enter(identity_to_run_as(identity_of_caller()), -1, &state))
		_exit(1);
	_exit(hi_analyzer_list_events(stream_fd, list_fd));
}

/* Both processes have the same position in the stream. */
static void show(int stream_fd, struct trial_progress *progress)
{
	struct stat status;
	const off_t at = lseek(stream_fd, 0, SEEK_CUR);
	const bool is_known = at >= 0 && !fstat(stream_fd, &status) && S_ISREG(status.st_mode);

	trial_progress_show(progress, "reading the stream", is_known ? (uint64_t)at : 0,
			    is_known ? (uint64_t)status.st_size : 0);
}

static void wait_end(pid_t pid, int stream_fd, struct trial_progress *progress)
{
	int status;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
		show(stream_fd, progress);
		clock_wait_until(clock_now_ns() + POLL_NS);
	}
}

/* The head is the work of a process that has read hostile bytes. */
static int check_head(struct hi_trial_head *head, int fd)
{
	struct stat status;

	if (pread(fd, head, sizeof(*head), 0) != (ssize_t)sizeof(*head) ||
	    head->magic != HI_TRIAL_MAGIC)
		return -EPROTO;
	head->name[sizeof(head->name) - 1] = 0;
	head->text[sizeof(head->text) - 1] = 0;
	head->unhooked[sizeof(head->unhooked) - 1] = 0;
	if (head->refusal != HI_TRIAL_LISTED)
		return -ENODATA;
	if (fstat(fd, &status) || head->events > HI_TRIAL_EVENTS_MAX ||
	    (uint64_t)status.st_size < sizeof(*head) + head->events * sizeof(struct hi_trial_event))
		return -EPROTO;
	return 0;
}

int trial_list_open(struct trial_list *list, int stream_fd, struct trial_progress *progress)
{
	*list = (struct trial_list){.fd = open_unnamed()};
	if (list->fd < 0)
		return -errno;
	const pid_t pid = fork();
	if (pid == 0)
		read_stream(stream_fd, list->fd);
	if (pid < 0)
		return -errno;
	wait_end(pid, stream_fd, progress);
	return check_head(&list->head, list->fd);
}

void trial_list_close(struct trial_list *list)
{
	if (list->fd >= 0)
		close(list->fd);
	list->fd = -1;
}
