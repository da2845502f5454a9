/* SPDX-License-Identifier: MIT */
/*
 * leaving KIND - threads that leave calls in the middle. Where that may be within malloc the
 * program needs an allocator that bears it (libbump.c).
 *
 *   cancel  threads are cancelled where they wait, with blocks in hand that their clean-up handlers
 *           check and free
 *   async   threads are cancelled wherever they are, in malloc most of the time
 *   jump    a timer's handler jumps out of whatever was interrupted, which is malloc most of the
 *           time
 *
 * An interrupted call may have been within one of our hooks, which then is never seen to return:
 * detach has to keep what such a call would return to, and says so.
 */
#include "selfcheck.h"

#include <setjmp.h>
#include <sys/syscall.h>

#define THREADS 3
#define TICK_NS 300000

/* ---- jump ------------------------------------------------------------------------------------ */

static __thread sigjmp_buf back;
static __thread volatile bool may_jump;

static void on_tick(int number)
{
	(void)number;
	if (may_jump) {
		may_jump = false;
		siglongjmp(back, 1);
	}
}

static void start_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
	const struct itimerspec every = {{0, TICK_NS}, {0, TICK_NS}};
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	SELF_CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
		   timer_settime(timer, 0, &every, NULL) == 0);
}

static void allocate_once(struct self_worker *worker)
{
	const size_t size = 1 + self_random(worker) % 3000;
	struct self_block block;

	self_block_take(worker, &block, malloc(size), size);
	self_block_free(&block);
}

static void *jump(void *unused)
{
	struct self_worker *worker = self_worker_new();

	start_timer();
	while (!self_is_stopping()) {
		if (sigsetjmp(back, 1) == 0) {
			may_jump = true;
			for (;;)
				allocate_once(worker);
		}
		self_step(worker);
	}
	return unused;
}

/* ---- cancel ---------------------------------------------------------------------------------- */

struct errand {
	struct self_worker worker; /* for tags and sizes only */
	struct self_block block;
	bool is_async, has_begun;
};

static void clean_up(void *data)
{
	struct errand *errand = data;

	self_block_free(&errand->block);
}

static void *be_cancelled(void *data)
{
	struct errand *errand = data;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	self_block_take(&errand->worker, &errand->block, malloc(700), 700);
	pthread_cleanup_push(clean_up, errand);
	__atomic_store_n(&errand->has_begun, true, __ATOMIC_RELEASE);
	if (errand->is_async)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	for (;;) {
		free(malloc(1 + self_random(&errand->worker) % 3000));
		if (!errand->is_async)
			usleep(10);
	}
	pthread_cleanup_pop(1);
	return NULL;
}

static void *cancel(void *is_async)
{
	struct self_worker *worker = self_worker_new();
	struct errand errand = {.worker = *worker, .is_async = is_async != NULL};

	while (!self_is_stopping()) {
		pthread_t thread;
		void *result;

		errand.has_begun = false;
		SELF_CHECK(pthread_create(&thread, NULL, be_cancelled, &errand) == 0);
		while (!__atomic_load_n(&errand.has_begun, __ATOMIC_ACQUIRE))
			sched_yield();
		usleep((unsigned)(self_random(worker) % 300));
		pthread_cancel(thread);
		SELF_CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
		SELF_CHECK(errand.block.at == NULL);
		self_step(worker);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	signal(SIGRTMIN, on_tick);
	if (strcmp(argv[1], "jump") == 0)
		return self_run(THREADS, jump, NULL);
	return self_run(THREADS, cancel, strcmp(argv[1], "async") == 0 ? argv[1] : NULL);
}
