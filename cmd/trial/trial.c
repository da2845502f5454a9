/* SPDX-License-Identifier: MIT */
/* trial.c - see trial.h. Start at trial_run(). */
#include "trial.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "identity.h"
#include "memory_limit.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

#define LIST_FD 3
#define REPORTS_FD 4
#define PLAYER_FD 5
#define MOVED_FD 256 /* a number that is not one of these */
#define POLL_MS 100
#define ARGUMENT_MAX 32
#define PATH_TEXT_MAX 4200
#define UNKNOWN_MEMORY (1ull << 30)

extern const uint8_t hi_trial_player[], hi_trial_player_end[];

/* Ends of the process that runs. */
struct running {
	pid_t pid;
	int reports, errors;
};

/* ---- the process ----------------------------------------------------------------------------- */

static int write_player(int fd)
{
	const uint8_t *at = hi_trial_player;

	while (at < hi_trial_player_end) {
		const ssize_t done = write(fd, at, (size_t)(hi_trial_player_end - at));

		if (done < 0 && errno != EINTR)
			return -errno;
		at += done > 0 ? done : 0;
	}
	return 0;
}

/* The player as a file that can be executed; kernels before 6.3 do not know that flag. */
static int open_player(void)
{
	int fd = memfd_create("heapinject-trial", MFD_CLOEXEC | MFD_EXEC);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("heapinject-trial", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	const int err = write_player(fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Under sudo the user who typed the command: the library is that user's choice. */
static int become_caller(void)
{
	const struct identity caller = identity_of_caller();

	if (geteuid() != 0 || caller.uid == 0)
		return 0;
	return setgroups(0, NULL) || setresgid(caller.gid, caller.gid, caller.gid) ||
			       setresuid(caller.uid, caller.uid, caller.uid)
		       ? -errno
		       : 0;
}

/* It is the first to go where memory runs out, and leaves no core. */
static void limit_itself(void)
{
	const struct rlimit none = {0, 0};
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)setrlimit(RLIMIT_CORE, &none);
	if (fd < 0)
		return;
	(void)!write(fd, "1000", 4);
	close(fd);
}

/* Moves them to the numbers that the player gets, and closes all others. */
static int place_descriptors(int fd[3], int errors)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3; i++)
		fd[i] = fcntl(fd[i], F_DUPFD_CLOEXEC, MOVED_FD);
	errors = fcntl(errors, F_DUPFD_CLOEXEC, MOVED_FD);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(errors, STDERR_FILENO) < 0 || dup2(fd[0], LIST_FD) < 0 ||
	    dup2(fd[1], REPORTS_FD) < 0 || dup3(fd[2], PLAYER_FD, O_CLOEXEC) < 0)
		return -errno;
	closefrom(PLAYER_FD + 1);
	return 0;
}

_Noreturn static void execute(int fd[3], int errors, const char *library,
			      const struct trial_limits *limits, const char *setting)
{
	static char list[] = "3", reports[] = "4", name[] = "heapinject-trial";
	char memory[ARGUMENT_MAX], preload[PATH_TEXT_MAX], set[ARGUMENT_MAX];
	char *const arguments[] = {name, list, reports, memory, NULL};
	char *environment[3] = {NULL};
	size_t count = 0;

	limit_itself();
	snprintf(memory, sizeof(memory), "%" PRIu64, limits->memory_bytes);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library ? library : "");
	snprintf(set, sizeof(set), "%s", setting ? setting : "");
	if (library)
		environment[count++] = preload;
	if (setting)
		environment[count++] = set;
	int err = place_descriptors(fd, errors);
	if (!err)
		err = become_caller();
	if (!err && lseek(LIST_FD, 0, SEEK_SET))
		err = -errno;
	if (!err) {
		fexecve(PLAYER_FD, arguments, environment);
		err = -errno;
	}
	fprintf(stderr, "%s\n",
		err == -ENOENT ? "it needs the dynamic linker of glibc, which is not here"
			       : strerror(-err));
	_exit(1);
}

static int start(struct running *running, const struct trial_list *list, const char *library,
		 const struct allocator *allocator, const struct trial_limits *limits)
{
	int reports[2], errors[2];
	const int player = open_player();

	if (player < 0)
		return player;
	if (pipe2(reports, O_CLOEXEC)) {
		close(player);
		return -errno;
	}
	if (pipe2(errors, O_CLOEXEC)) {
		close(reports[0]);
		close(reports[1]);
		close(player);
		return -EMFILE;
	}
	const pid_t pid = fork();
	if (pid == 0)
		execute((int[]){list->fd, reports[1], player}, errors[1], library, limits,
			allocator->setting);
	close(player);
	close(reports[1]);
	close(errors[1]);
	*running = (struct running){.pid = pid, .reports = reports[0], .errors = errors[0]};
	return pid < 0 ? -EAGAIN : 0;
}

/* ---- what it says ---------------------------------------------------------------------------- */

/* The last report that came. False: none comes any more. */
static bool take_report(const struct running *running, struct hi_trial_report *report)
{
	struct hi_trial_report next;
	const ssize_t got = read(running->reports, &next, sizeof(next));

	if (got < 0 && errno == EINTR)
		return true;
	if (got != (ssize_t)sizeof(next) || next.magic != HI_TRIAL_MAGIC)
		return false;
	next.object[sizeof(next.object) - 1] = 0;
	*report = next;
	return true;
}

/* False: it took too long. */
static bool follow(const struct running *running, const struct trial_list *list,
		   const struct allocator *allocator, const struct trial_limits *limits,
		   struct trial_progress *progress, struct hi_trial_report *report)
{
	const uint64_t end_ns = clock_now_ns() + limits->time_ns;
	char what[64];

	snprintf(what, sizeof(what), "replaying with %.32s", allocator->name);
	for (;;) {
		struct pollfd ready = {.fd = running->reports, .events = POLLIN};

		if (clock_now_ns() >= end_ns)
			return false;
		trial_progress_show(progress, what, report->done, list->head.events);
		if (poll(&ready, 1, POLL_MS) > 0 && !take_report(running, report))
			return true;
	}
}

/* The first line that the dynamic linker or the library has written. */
static void read_error(const struct running *running, char *text, size_t size)
{
	const ssize_t got = read(running->errors, text, size - 1);

	text[got > 0 ? got : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	for (char *at = text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

static void explain_failure(const struct running *running, const struct hi_trial_report *report,
			    int status, struct trial *trial)
{
	char text[HI_TRIAL_TEXT_MAX];

	read_error(running, text, sizeof(text));
	if (WIFSIGNALED(status))
		snprintf(trial->why, sizeof(trial->why), "it was ended by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (report->state == HI_TRIAL_FAILED && report->err)
		snprintf(trial->why, sizeof(trial->why), "%s", strerror(report->err));
	else
		snprintf(trial->why, sizeof(trial->why), "%s",
			 *text ? text : "it ended without a result");
}

/* ---- a trial --------------------------------------------------------------------------------- */

static bool has_library(const struct allocator *allocator, const struct hi_trial_report *report)
{
	const char *const slash = strrchr(report->object, '/');
	const char *const name = slash ? slash + 1 : report->object;

	if (!strncmp(name, allocator->soname, strlen(allocator->soname)))
		return true;
	/* a library that the user named may have its malloc from another one */
	return !allocator->package && allocator->preload[0] && strncmp(name, "libc.", 5) != 0;
}

static void run_with(const struct trial_list *list, const struct allocator *allocator,
		     const char *library, const struct trial_limits *limits,
		     struct trial_progress *progress, struct trial *trial)
{
	struct running running = {.pid = -1, .reports = -1, .errors = -1};
	int status = 0;
	const int err = start(&running, list, library, allocator, limits);

	*trial = (struct trial){.outcome = TRIAL_FAILED};
	if (err) {
		snprintf(trial->why, sizeof(trial->why), "%s", strerror(-err));
		return;
	}
	struct hi_trial_report *report = &trial->report;
	bool is_in_time = take_report(&running, report);
	const bool is_there = report->state != HI_TRIAL_BEGINS || has_library(allocator, report);
	if (is_there && is_in_time)
		is_in_time = follow(&running, list, allocator, limits, progress, report);
	else
		is_in_time = true;
	if (!is_in_time || !is_there)
		kill(running.pid, SIGKILL);
	while (waitpid(running.pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!is_there)
		trial->outcome = TRIAL_NOT_INSTALLED;
	else if (!is_in_time)
		trial->outcome = TRIAL_TOO_LONG;
	else if (report->state == HI_TRIAL_TOO_LARGE)
		trial->outcome = TRIAL_TOO_LARGE;
	else if (report->state == HI_TRIAL_DONE)
		trial->outcome = TRIAL_DONE;
	else
		explain_failure(&running, report, status, trial);
	close(running.reports);
	close(running.errors);
}

void trial_run(const struct trial_list *list, const struct allocator *allocator,
	       const struct trial_limits *limits, struct trial_progress *progress,
	       struct trial *out_trial)
{
	size_t i = 0;

	do
		run_with(list, allocator, allocator->preload[i], limits, progress, out_trial);
	while (out_trial->outcome == TRIAL_NOT_INSTALLED && allocator->preload[i] &&
	       allocator->preload[++i]);
}

static uint64_t available_kilobytes(void)
{
	FILE *const file = fopen("/proc/meminfo", "re");
	char line[128];
	uint64_t kilobytes = 0;

	while (file && !kilobytes && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kilobytes) != 1)
			kilobytes = 0;
	if (file)
		fclose(file);
	return kilobytes;
}

/* Of the machine, or less: what the cgroup has left. */
uint64_t trial_available(void)
{
	const struct memory_limit nearest = memory_limit_of(getpid(), getpid());
	const uint64_t left = nearest.limit > nearest.used ? nearest.limit - nearest.used : 0,
		       kilobytes = available_kilobytes(),
		       machine = kilobytes ? kilobytes * 1024 : UNKNOWN_MEMORY;

	return (nearest.limit && left < machine ? left : machine) / 10 * 9;
}
