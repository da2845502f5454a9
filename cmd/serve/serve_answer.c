/* SPDX-License-Identifier: MIT */
/* serve_answer.c - see serve_answer.h. Start at serve_answer(). */
#include "serve_answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hi_analyzer.h"
#include "hi_exit.h"
#include "inspection.h"
#include "listing.h"
#include "metrics.h"
#include "pprof_time.h"
#include "sandbox.h"
#include "sandbox_filter.h"
#include "session_list.h"
#include "session_profile.h"
#include "session_request.h"
#include "status_print.h"
#include "steer.h"

#define MEMORY_MAX ((rlim_t)2 << 30)
#define ANSWER_MAX ((rlim_t)256 << 20)
#define CPU_SECONDS_MAX 60u
#define SECOND_NS UINT64_C(1000000000)

/* ---- which session --------------------------------------------------------------------------- */

struct only {
	pid_t pid;
	size_t count;
};

static void count_session(void *context, const struct status_fields *fields)
{
	struct only *only = context;

	only->pid = (pid_t)fields->pid;
	only->count++;
}

/* A path without a pid is of the only session, or of the first that was named. */
static enum serve_outcome find_session(const struct serve_question *question, pid_t *out_pid)
{
	const struct serve_options *options = question->options;
	struct only only = {0};

	*out_pid = question->route.pid;
	for (size_t i = 0; i < options->pid_count && *out_pid; i++)
		if (options->pid[i] == *out_pid)
			return SERVE_ANSWERED;
	if (*out_pid && options->pid_count) {
		fprintf(stderr, "heapinject: the session of %d is not served\n", (int)*out_pid);
		return SERVE_NO_SESSION;
	}
	if (*out_pid)
		return SERVE_ANSWERED;
	if (options->pid_count) {
		*out_pid = options->pid[0];
		return SERVE_ANSWERED;
	}
	session_list(count_session, &only);
	*out_pid = only.pid;
	if (only.count > 1)
		fprintf(stderr, SERVE_SAYS_SEVERAL, only.count);
	else if (!only.count)
		fprintf(stderr, "heapinject: no session is running\n");
	return only.count > 1 ? SERVE_SEVERAL_SESSIONS
	       : only.count   ? SERVE_ANSWERED
			      : SERVE_NO_SESSION;
}

static enum serve_outcome get_profile(pid_t pid, int *out_fd)
{
	static struct preflight preflight;
	const int exit_code = session_profile(pid, out_fd, &preflight);

	if (exit_code == HI_EXIT_REFUSED)
		return SERVE_NO_SESSION; /* no such process */
	if (exit_code != SESSION_NO_ANSWER)
		return exit_code == HI_EXIT_OK ? SERVE_ANSWERED : SERVE_FAILED;
	session_explain_none(pid, &preflight);
	return SERVE_NO_SESSION;
}

/* ---- without rights -------------------------------------------------------------------------- */

static void limit(int resource, rlim_t bound)
{
	const struct rlimit wanted = {bound, bound};
	struct rlimit now;

	if (!getrlimit(resource, &now) && now.rlim_max > bound)
		(void)setrlimit(resource, &wanted);
}

/* Gives up all rights; the standard descriptors stay, and the files of the profiles. */
static int enter_sandbox(void)
{
	struct sandbox_state state;

	limit(RLIMIT_FSIZE, ANSWER_MAX);
	limit(RLIMIT_CPU, CPU_SECONDS_MAX);
	if (!SANDBOX_IS_SANITIZED)
		limit(RLIMIT_AS, MEMORY_MAX);
	return sandbox_enter(identity_to_run_as(identity_of_caller()), -1, &state);
}

static enum serve_outcome outcome_of(int exit_code)
{
	return exit_code == HI_EXIT_OK ? SERVE_ANSWERED : SERVE_FAILED;
}

/*
 * `heapinject report` of the profile on standard input, less that of base_fd if there is one. A
 * difference for people has percentages of the base, as diff; a file of one has what is left.
 */
static enum serve_outcome report(const struct serve_question *question, const char *view,
				 const char *type, int base_fd)
{
	char command[] = "report", standard_input[] = "-", as_is[] = "--as-is";
	char view_option[16], type_option[24], base_option[40];
	char *argv[8] = {command, standard_input, view_option, type_option};
	const bool is_file =
		question->route.page == SERVE_PPROF || question->route.page == SERVE_ALLOCS;
	int argc = 4;

	snprintf(view_option, sizeof(view_option), "--%s", view);
	snprintf(type_option, sizeof(type_option), "%s",
		 question->sample_type ? question->sample_type : type);
	if (base_fd >= 0) {
		snprintf(base_option, sizeof(base_option), "--%s=/dev/fd/%d",
			 is_file ? "base" : "diff-base", base_fd);
		argv[argc++] = base_option;
		argv[argc++] = as_is;
	}
	return outcome_of(hi_analyzer_report(argc, argv));
}

/* Copies standard input. */
static enum serve_outcome copy_to(int out_fd)
{
	char bytes[1 << 16];
	ssize_t got;

	while ((got = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
		if (write(out_fd, bytes, (size_t)got) != got)
			return SERVE_FAILED;
	return got ? SERVE_FAILED : SERVE_ANSWERED;
}

/* The profile is on standard input. */
static enum serve_outcome render(const struct serve_question *question, int base_fd)
{
	if (enter_sandbox()) {
		fprintf(stderr, "heapinject: the rights to read the profile cannot be given up\n");
		return SERVE_FAILED;
	}
	switch (question->route.page) {
	case SERVE_HEAP:
		return copy_to(STDOUT_FILENO); /* there is none of a difference */
	case SERVE_PPROF:
		return report(question, "pprof", "--inuse-space", base_fd);
	case SERVE_ALLOCS:
		return report(question, "pprof", "--alloc-space", base_fd);
	case SERVE_REPORT:
		return report(question, "html", "--inuse-space", base_fd);
	case SERVE_TEXT:
		return report(question, "text", "--inuse-space", base_fd);
	case SERVE_TREE:
		return report(question, "tree", "--inuse-space", base_fd);
	case SERVE_DOT:
		return report(question, "dot", "--inuse-space", base_fd);
	case SERVE_COLLAPSED:
		return report(question, "collapsed", "--inuse-space", base_fd);
	case SERVE_LEAKS:
		return report(question, "leaks", "--inuse-space", base_fd);
	case SERVE_SYMBOL:
		return outcome_of(hi_analyzer_names(STDIN_FILENO, question->calls.address,
						    question->calls.count, stdout));
	default:
		return SERVE_FAILED;
	}
}

/*
 * A kept profile by a descriptor of its own, with a position of its own, that cannot write. -1 =
 * there is none.
 */
static int open_kept(int kept_fd)
{
	char path[40];

	if (kept_fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", kept_fd);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	close(kept_fd);
	return fd;
}

static enum serve_outcome answer_profile(const struct serve_question *question, pid_t pid)
{
	const struct timespec pause = {.tv_sec = (time_t)question->seconds};
	int base_fd = open_kept(question->base_fd), fd = open_kept(question->view_fd);
	enum serve_outcome outcome = SERVE_ANSWERED;

	if ((base_fd < 0) != (question->base_fd < 0) || (fd < 0) != (question->view_fd < 0))
		return SERVE_FAILED;
	if (question->seconds) {
		outcome = get_profile(pid, &base_fd);
		if (!outcome)
			nanosleep(&pause, NULL);
	}
	if (!outcome && fd < 0)
		outcome = get_profile(pid, &fd);
	if (outcome)
		return outcome;
	return dup2(fd, STDIN_FILENO) < 0 ? SERVE_FAILED : render(question, base_fd);
}

/* ---- with the rights of the command ---------------------------------------------------------- */

static void ignore_status(void *context, const struct status_fields *fields)
{
	(void)context;
	(void)fields;
}

/* The arguments end with NUL in /proc. */
static enum serve_outcome answer_command(pid_t pid, bool with_nul)
{
	char path[64], bytes[4096];
	ssize_t got = -1;

	if (session_list_one(pid, ignore_status, NULL) != HI_EXIT_OK)
		return SERVE_NO_SESSION;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (got = read(fd, bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < got && !with_nul; i++)
			bytes[i] = bytes[i] ? bytes[i] : '\n';
		fwrite(bytes, 1, (size_t)got, stdout);
	}
	return got < 0 ? SERVE_FAILED : SERVE_ANSWERED;
}

static void write_pid(void *context, const struct status_fields *fields)
{
	(void)context;
	printf("%d\n", (int)fields->pid);
}

/* What those who watch are shown, of the profile on standard input. */
static enum serve_outcome write_look(const struct status_fields *fields)
{
	enum serve_outcome outcome;

	fputs("{\"status\":", stdout);
	status_print_json(fields, stdout);
	fputs(",\"profile\":", stdout);
	if (enter_sandbox())
		return SERVE_FAILED;
	outcome = outcome_of(hi_analyzer_live(STDIN_FILENO, stdout));
	fputs("}", stdout);
	return outcome;
}

/* Gets the profile that is to be kept, and reads it only if it is watched, too. */
static enum serve_outcome look(const struct serve_question *question, pid_t pid, int profile_fd)
{
	static struct preflight preflight;
	static struct status_fields fields;
	struct serve_look_head head = {0};
	int fd, exit_code = session_list_read(pid, &fields, &preflight);
	enum serve_outcome outcome;

	if (exit_code == SESSION_NO_ANSWER)
		session_explain_none(pid, &preflight);
	if (exit_code != HI_EXIT_OK)
		return SERVE_NO_SESSION;
	head.injector = fields.injector;
	head.elapsed_ns = fields.elapsed_ns;
	fwrite(&head, sizeof(head), 1, stdout);
	outcome = get_profile(pid, &fd);
	if (outcome)
		return outcome;
	if (dup2(fd, STDIN_FILENO) < 0 || copy_to(profile_fd))
		return SERVE_FAILED;
	close(profile_fd);
	if (!question->is_watched)
		return SERVE_ANSWERED;
	return lseek(STDIN_FILENO, 0, SEEK_SET) < 0 ? SERVE_FAILED : write_look(&fields);
}

static enum serve_outcome answer_session(const struct serve_question *question,
					 const struct serve_outputs *outputs)
{
	pid_t pid = question->route.pid;
	/* who keeps a profile of a session has found it served */
	enum serve_outcome outcome =
		question->view_fd < 0 ? find_session(question, &pid) : SERVE_ANSWERED;

	if (outcome)
		return outcome;
	switch (question->route.page) {
	case SERVE_COMMAND:
	case SERVE_COMMAND_NUL:
		return answer_command(pid, question->route.page == SERVE_COMMAND_NUL);
	case SERVE_LOOK:
		return look(question, pid, outputs->profile_fd);
	default:
		return answer_profile(question, pid);
	}
}

static enum serve_outcome answer(const struct serve_question *question,
				 const struct serve_outputs *outputs)
{
	switch (question->route.page) {
	case SERVE_LIST:
		serve_listing_write(question->options, question->is_text, stdout);
		return SERVE_ANSWERED;
	case SERVE_METRICS:
		return serve_metrics_write(question->options, stdout) ? SERVE_FAILED
								      : SERVE_ANSWERED;
	case SERVE_SESSIONS:
		session_list(write_pid, NULL);
		return SERVE_ANSWERED;
	case SERVE_ATTACH:
	case SERVE_DETACH:
		return steer(question->options, question->route.pid,
			     question->route.page == SERVE_DETACH, outputs->answer_fd,
			     outputs->complaint_fd)
			       ? SERVE_ANSWERED
			       : SERVE_REFUSED;
	case SERVE_INSPECT_EXPLAIN:
	case SERVE_INSPECT_CENSUS:
	case SERVE_INSPECT_LEAKS:
	case SERVE_INSPECT_OWNERS:
		return inspection_answer(&(const struct inspection){
			question->options, question->route, question->seconds, !question->is_text});
	default:
		return answer_session(question, outputs);
	}
}

/* ---- the time of a profile ------------------------------------------------------------------- */

/* A profile that is kept has the time at which it was taken. */
static bool has_time(const struct serve_question *question)
{
	return question->view_fd < 0 &&
	       (question->route.page == SERVE_PPROF || question->route.page == SERVE_ALLOCS);
}

/*
 * Copies the profile from one memory to the other, with the time of the request: who fetches
 * profiles orders them by their time, and one session is fetched again and again.
 */
static enum serve_outcome copy_with_time(const struct serve_question *question, int from, int to)
{
	struct timespec now;
	struct stat status;
	struct pprof_time time = {.duration_ns = question->seconds * SECOND_NS};
	uint8_t *profile = NULL;
	size_t size = 0;

	clock_gettime(CLOCK_REALTIME, &now);
	time.unix_ns = (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
	if (fstat(from, &status) || status.st_size > (off_t)ANSWER_MAX)
		return SERVE_FAILED;
	uint8_t *const bytes = malloc((size_t)status.st_size + 1);
	bool is_done = bytes &&
		       pread(from, bytes, (size_t)status.st_size, 0) == (ssize_t)status.st_size &&
		       !pprof_time_set(bytes, (size_t)status.st_size, time, &profile, &size);
	is_done = is_done && write(to, profile, size) == (ssize_t)size;
	free(bytes);
	if (is_done)
		free(profile);
	return is_done ? SERVE_ANSWERED : SERVE_FAILED;
}

_Noreturn void serve_answer(const struct serve_question *asked, const struct serve_outputs *given)
{
	struct serve_question question = *asked;
	struct serve_outputs outputs = *given;
	int *const kept[] = {&outputs.answer_fd, &outputs.complaint_fd, &outputs.profile_fd,
			     &question.view_fd, &question.base_fd};
	enum serve_outcome outcome = SERVE_FAILED;

	if (sandbox_keep(kept, sizeof(kept) / sizeof(*kept)))
		_exit((int)outcome);
	const int out_fd =
		has_time(&question) ? memfd_create("profile", MFD_CLOEXEC) : outputs.answer_fd;
	if (dup2(out_fd, STDOUT_FILENO) >= 0 && dup2(outputs.complaint_fd, STDERR_FILENO) >= 0)
		outcome = answer(&question, &outputs);
	if (fflush(stdout) || ferror(stdout))
		outcome = SERVE_FAILED;
	if (!outcome && has_time(&question))
		outcome = copy_with_time(&question, out_fd, outputs.answer_fd);
	_exit((int)outcome);
}
