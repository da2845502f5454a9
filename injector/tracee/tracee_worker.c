/* SPDX-License-Identifier: MIT */
/*
 * tracee_worker.c - the short-lived thread in which all tracing is done: a thread of the target
 * that does not stop is let go only when its tracer ends.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "exit_watch.h"
#include "tracee.h"
#include "tracee_late.h"
#include "watchdog.h"

struct worker {
	int (*work)(void *);
	void *context;
	int result;
	pid_t tid;
};

static void *worker_main(void *argument)
{
	struct worker *worker = argument;

	worker->tid = gettid();
	worker->result = worker->work(worker->context);
	tracee_late_end();
	return NULL;
}

/*
 * A thread that has been joined is still exiting in the kernel, and detaches the threads that it
 * traced towards the end of that. Until then, other attempts to trace them are refused.
 */
static void wait_until_gone(pid_t tid)
{
	while (!tgkill(getpid(), tid, 0))
		sched_yield();
}

int tracee_worker(int (*work)(void *), void *context)
{
	struct worker worker = {.work = work, .context = context};
	pthread_t thread;
	sigset_t all, waiting, before;
	int err;

	watchdog_start();
	exit_watch_suspend();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, worker_main, &worker);
	/* Ctrl-Z would stop the worker, too, and the threads that it holds: so it is delayed. */
	waiting = before;
	sigaddset(&waiting, SIGTSTP);
	sigaddset(&waiting, SIGTTIN);
	sigaddset(&waiting, SIGTTOU);
	pthread_sigmask(SIG_SETMASK, &waiting, NULL);
	if (!err) {
		pthread_join(thread, NULL);
		wait_until_gone(worker.tid);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	exit_watch_resume();
	return err ? -err : worker.result;
}
