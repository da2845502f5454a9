/* SPDX-License-Identifier: MIT */
/* jobs.c - see jobs.h. */
#include "jobs.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
#define TIME_MAX_NS (60 * SECOND_NS)
#define INSPECT_MAX_NS (120 * SECOND_NS)

static const size_t most[SERVE_JOB_KINDS] = {
	[SERVE_JOB_LIGHT] = 8, [SERVE_JOB_RENDER] = 4, [SERVE_JOB_WAIT] = 4,
	[SERVE_JOB_LOOK] = 2,  [SERVE_JOB_STEER] = 2,  [SERVE_JOB_INSPECT] = 2};

uint64_t serve_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static enum serve_job_kind kind_of(const struct serve_question *question)
{
	switch (question->route.page) {
	case SERVE_LIST:
	case SERVE_METRICS:
	case SERVE_COMMAND:
	case SERVE_COMMAND_NUL:
	case SERVE_SESSIONS:
		return SERVE_JOB_LIGHT;
	case SERVE_LOOK:
		return SERVE_JOB_LOOK;
	case SERVE_ATTACH:
	case SERVE_DETACH:
		return SERVE_JOB_STEER;
	case SERVE_INSPECT_EXPLAIN:
	case SERVE_INSPECT_CENSUS:
	case SERVE_INSPECT_LEAKS:
	case SERVE_INSPECT_OWNERS:
		return SERVE_JOB_INSPECT;
	default:
		return question->seconds ? SERVE_JOB_WAIT : SERVE_JOB_RENDER;
	}
}

static struct serve_job *free_job(struct serve_jobs *jobs)
{
	for (size_t i = 0; i < SERVE_JOBS_MAX; i++)
		if (!jobs->job[i].pid)
			return &jobs->job[i];
	return NULL;
}

static bool is_inspected(const struct serve_jobs *jobs, pid_t pid)
{
	for (size_t i = 0; i < SERVE_JOBS_MAX; i++)
		if (jobs->job[i].pid && jobs->job[i].inspected == pid)
			return true;
	return false;
}

_Noreturn static void run(const struct serve_question *question, const struct serve_job *job)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (job->kind == SERVE_JOB_STEER)
		(void)setsid(); /* no key at our terminal ends it */
	else
		(void)setpgid(0, 0);
	serve_answer(question, &(const struct serve_outputs){job->answer_fd, job->complaint_fd,
							     job->profile_fd});
}

static int open_outputs(struct serve_job *job)
{
	job->answer_fd = memfd_create("answer", MFD_CLOEXEC);
	job->complaint_fd = memfd_create("complaint", MFD_CLOEXEC);
	if (job->kind == SERVE_JOB_LOOK)
		job->profile_fd = memfd_create("profile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return job->answer_fd < 0 || job->complaint_fd < 0 ||
			       (job->kind == SERVE_JOB_LOOK && job->profile_fd < 0)
		       ? -errno
		       : 0;
}

void serve_job_close(const struct serve_job *job)
{
	const int fds[] = {job->answer_fd, job->complaint_fd, job->profile_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

int serve_jobs_start(struct serve_jobs *jobs, const struct serve_question *question,
		     serve_job_ended *ended, void *owner)
{
	struct serve_job *free_place = free_job(jobs);
	struct serve_job job = {.kind = kind_of(question),
				.answer_fd = -1,
				.complaint_fd = -1,
				.profile_fd = -1,
				.ended = ended,
				.owner = owner};
	int err;

	if (job.kind == SERVE_JOB_INSPECT) {
		job.inspected = question->route.pid;
		if (is_inspected(jobs, job.inspected))
			return -EBUSY;
	}
	if (!free_place || jobs->running[job.kind] >= most[job.kind])
		return -EAGAIN;
	job.deadline_ns = serve_now_ns() + question->seconds * SECOND_NS +
			  (job.inspected ? INSPECT_MAX_NS : TIME_MAX_NS);
	err = open_outputs(&job);
	if (!err)
		job.pid = fork();
	if (!err && job.pid == 0)
		run(question, &job);
	if (!err && job.pid > 0) {
		if (job.kind != SERVE_JOB_STEER)
			(void)setpgid(job.pid, job.pid); /* the child or we, the first of them */
		jobs->running[job.kind]++;
		*free_place = job;
		return 0;
	}
	err = err ? err : -errno;
	serve_job_close(&job);
	return err;
}

/* Hands it over; one that goes on is only waited for from then on. */
static void hand_over(struct serve_job *job, int status)
{
	const struct serve_job copy = *job;

	job->ended = NULL;
	if (copy.ended)
		copy.ended(&copy, status);
}

static void end(struct serve_jobs *jobs, struct serve_job *job, int status)
{
	jobs->running[job->kind]--;
	hand_over(job, status);
	*job = (struct serve_job){0};
}

static void be_late(struct serve_job *job)
{
	job->is_late = true;
	if (job->kind == SERVE_JOB_STEER)
		hand_over(job, 0);
	else
		kill(-job->pid, SIGKILL);
}

void serve_jobs_collect(struct serve_jobs *jobs, uint64_t now_ns)
{
	for (size_t i = 0; i < SERVE_JOBS_MAX; i++) {
		struct serve_job *job = &jobs->job[i];
		int status;

		if (!job->pid)
			continue;
		if (now_ns >= job->deadline_ns && !job->is_late)
			be_late(job);
		if (waitpid(job->pid, &status, WNOHANG) == job->pid)
			end(jobs, job, status);
	}
}

void serve_jobs_drop_unwanted(struct serve_jobs *jobs, bool (*is_wanted)(const void *owner))
{
	for (size_t i = 0; i < SERVE_JOBS_MAX; i++) {
		const struct serve_job *job = &jobs->job[i];

		if (job->pid && (job->kind == SERVE_JOB_WAIT || job->kind == SERVE_JOB_INSPECT) &&
		    job->ended && !is_wanted(job->owner))
			kill(-job->pid, SIGKILL);
	}
}

void serve_jobs_stop(struct serve_jobs *jobs)
{
	for (size_t i = 0; i < SERVE_JOBS_MAX; i++) {
		struct serve_job *job = &jobs->job[i];
		int status = 0;

		if (!job->pid)
			continue;
		if (job->kind != SERVE_JOB_STEER) {
			kill(-job->pid, SIGKILL);
			while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
				;
		}
		job->is_late = true;
		end(jobs, job, status);
	}
}
