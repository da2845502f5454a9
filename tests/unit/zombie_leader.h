/* SPDX-License-Identifier: MIT */
/*
 * zombie_leader.h - a child whose first thread has ended, and whose second one lives on. It dies
 * with its parent.
 */
#ifndef HI_ZOMBIE_LEADER_H
#define HI_ZOMBIE_LEADER_H

#include <pthread.h>
#include <sys/prctl.h>

#include "unit.h"

static int zombie_leader_pipe[2];
static pthread_t zombie_leader;

static inline void *outlive_leader(void *unused)
{
	const pid_t tid = gettid();

	pthread_join(zombie_leader, NULL);
	(void)!write(zombie_leader_pipe[1], &tid, sizeof(tid));
	pause();
	return unused;
}

/* Its pid, once the leader has been joined; the leader may not be a zombie yet. */
static inline pid_t zombie_leader_start(pid_t *out_tid)
{
	pid_t child;

	CHECK_EQ(pipe(zombie_leader_pipe), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_t thread;

		zombie_leader = pthread_self();
		pthread_create(&thread, NULL, outlive_leader, NULL);
		pthread_exit(NULL);
	}
	CHECK_EQ(read(zombie_leader_pipe[0], out_tid, sizeof(*out_tid)), sizeof(*out_tid));
	return child;
}

#endif
