/* SPDX-License-Identifier: MIT */
/* jobs.h - the processes that make the answers: a few at a time, and none for long. */
#ifndef HI_SERVE_JOBS_H
#define HI_SERVE_JOBS_H

#include "serve_answer.h"

#define SERVE_JOBS_MAX 22u

enum serve_job_kind {
	SERVE_JOB_LIGHT,   /* reads no profile */
	SERVE_JOB_RENDER,  /* reads one */
	SERVE_JOB_WAIT,    /* reads two, some seconds apart */
	SERVE_JOB_LOOK,    /* gets one that is kept */
	SERVE_JOB_STEER,   /* attaches or detaches: it is never killed, and may outlive us */
	SERVE_JOB_INSPECT, /* looks at a process from outside, one at a time at each */
	SERVE_JOB_KINDS,
};

struct serve_job;
/* Takes the descriptors over (serve_job_close). The status is that of waitpid(). */
typedef void serve_job_ended(const struct serve_job *job, int status);

struct serve_job {
	pid_t pid; /* 0 = none; also its process group */
	enum serve_job_kind kind;
	pid_t inspected; /* 0 = none */
	int answer_fd, complaint_fd;
	int profile_fd; /* what a look has got; else -1 */
	uint64_t deadline_ns;
	bool is_late;
	serve_job_ended *ended;
	void *owner;
};
struct serve_jobs {
	struct serve_job job[SERVE_JOBS_MAX];
	size_t running[SERVE_JOB_KINDS];
};

/*
 * -EAGAIN: as many as there may be are running; -EBUSY: the process is being inspected already; or
 * another negative errno.
 */
must_check int serve_jobs_start(struct serve_jobs *jobs, const struct serve_question *question,
				serve_job_ended *ended, void *owner);
/* Hands over those that have ended, and kills those that are late. */
void serve_jobs_collect(struct serve_jobs *jobs, uint64_t now_ns);
/*
 * Kills those that wait, or inspect, although nobody waits for them any more: they have the places
 * of others. They end as all do.
 */
void serve_jobs_drop_unwanted(struct serve_jobs *jobs, bool (*is_wanted)(const void *owner));
/* Kills all and hands them over. */
void serve_jobs_stop(struct serve_jobs *jobs);
/* Closes the descriptors. */
void serve_job_close(const struct serve_job *job);
uint64_t serve_now_ns(void);

#endif
