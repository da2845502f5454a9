/* SPDX-License-Identifier: MIT */
/*
 * signals KIND - three threads that allocate under fire of signals, all of them handled on an
 * alternate stack between canaries, in the midst of malloc.
 *
 *   count  a timer of some kHz for each thread, and real-time signals queued by a fourth one: as
 *          many must be handled as were sent, in their order, with their values
 *   jump   the handler leaves by siglongjmp where the thread says that it is safe, and returns
 *          where it is not
 */
#include "selfcheck.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define THREADS 3
#define BLOCKS 32
#define TICK_NS 300000 /* 3.3 kHz */
#define BATCH 16       /* queued at once to each thread */
#define ROUND_NS 100000000
#define PATIENCE_NS 30000000000u
#define STACK_SIZE 65536
#define CANARY 0x5aa55aa55aa55aa5u

#define SIGTICK SIGRTMIN
#define SIGQUEUED (SIGRTMIN + 1)

struct fighter {
	struct self_worker *worker;
	pthread_t thread;
	timer_t timer;
	uint64_t *stack; /* CANARY at either end of it, outside of what sigaltstack was told */
	/* expirations that were handled, overruns included; by the handler, in its thread */
	long ticks;
	int queued; /* as many were handled; by the handler, read by the sender */
	bool may_jump, has_begun;
	sigjmp_buf back;
	struct self_block blocks[BLOCKS];
};

static struct fighter fighters[THREADS];
static __thread struct fighter *me;
static bool jumps;
static bool is_over; /* nobody shoots any more */

/* ---- the handlers: they allocate nothing ----------------------------------------------------- */

static void check_stack(const siginfo_t *info)
{
	const uintptr_t here = (uintptr_t)&info, stack = (uintptr_t)me->stack;

	if (here < stack || here >= stack + STACK_SIZE)
		self_wrong("a handler does not run on its alternate stack");
}

static void on_tick(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	check_stack(info);
	if (info->si_code != SI_TIMER)
		self_wrong("a timer's signal came with si_code %d", info->si_code);
	me->ticks += 1 + info->si_overrun;
	if (me->may_jump) {
		me->may_jump = false;
		siglongjmp(me->back, 1);
	}
}

static void on_queued(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	check_stack(info);
	if (info->si_value.sival_int != me->queued)
		self_wrong("queued signal %d came when %d was due", info->si_value.sival_int,
			   me->queued);
	__atomic_store_n(&me->queued, me->queued + 1, __ATOMIC_RELEASE);
}

/* ---- the threads ----------------------------------------------------------------------------- */

static void take_stack(void)
{
	stack_t stack;

	me->stack =
		mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	me->stack[0] = me->stack[STACK_SIZE / 8 - 1] = CANARY;
	stack = (stack_t){.ss_sp = me->stack + 8, .ss_size = STACK_SIZE - 128};
	SELF_CHECK(sigaltstack(&stack, NULL) == 0);
}

static void check_own_state(void)
{
	stack_t stack;
	sigset_t mask;

	SELF_CHECK(me->stack[0] == CANARY && me->stack[STACK_SIZE / 8 - 1] == CANARY);
	SELF_CHECK(sigaltstack(NULL, &stack) == 0 && stack.ss_sp == me->stack + 8 &&
		   stack.ss_size == STACK_SIZE - 128 && !(stack.ss_flags & SS_ONSTACK));
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	SELF_CHECK(!sigismember(&mask, SIGTICK) && !sigismember(&mask, SIGQUEUED));
}

static void replace_blocks(void)
{
	for (int i = 0; i < BLOCKS; i++)
		self_block_renew(me->worker, &me->blocks[i], 1 + self_random(me->worker) % 3000);
}

/* Waits for a tick where it may be left: nothing is held here. */
static void wait_to_be_thrown(void)
{
	if (sigsetjmp(me->back, 1))
		return;
	__atomic_store_n(&me->may_jump, true, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static void make_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGTICK};

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	SELF_CHECK(timer_create(CLOCK_MONOTONIC, &event, &me->timer) == 0);
}

static uint64_t start_timer(void)
{
	const uint64_t first = self_now_ns() + TICK_NS;
	const struct itimerspec when = {
		.it_interval = {0, TICK_NS},
		.it_value = {(time_t)(first / 1000000000), (long)(first % 1000000000)}};

	me->ticks = 0;
	SELF_CHECK(timer_settime(me->timer, TIMER_ABSTIME, &when, NULL) == 0);
	return first;
}

/*
 * Ticks of a timer that was to fire first at `first` and was stopped just now. One that is pending
 * when the timer is stopped is dropped by the kernel, with its overruns: so the signal is taken
 * first, then the rest of the interval is enough to stop the timer; where it was not (preempted),
 * this round says nothing.
 */
static void count_ticks(uint64_t first)
{
	const struct itimerspec stop = {{0, 0}, {0, 0}};
	const long before = me->ticks;
	uint64_t last, now;

	while (*(volatile long *)&me->ticks == before)
		;
	last = (uint64_t) * (volatile long *)&me->ticks;
	now = self_now_ns();
	SELF_CHECK(timer_settime(me->timer, 0, &stop, NULL) == 0);
	if (first + last * TICK_NS <= self_now_ns() + TICK_NS / 10)
		return;
	now = (now - first) / TICK_NS + 1;
	if (last < now)
		self_lost((long)(now - last));
	else if (last > now)
		self_wrong("%lu ticks where there was time for %lu", (unsigned long)last,
			   (unsigned long)now);
}

static void *fight(void *data)
{
	sigset_t fire;

	me = data;
	me->worker = self_worker_new();
	take_stack();
	make_timer();
	sigemptyset(&fire);
	sigaddset(&fire, SIGTICK);
	sigaddset(&fire, SIGQUEUED);
	pthread_sigmask(SIG_UNBLOCK, &fire, NULL);
	__atomic_store_n(&me->has_begun, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		const uint64_t first = start_timer();

		while (self_now_ns() < first + ROUND_NS) {
			replace_blocks();
			if (jumps)
				wait_to_be_thrown();
			self_step(me->worker);
		}
		count_ticks(first);
		check_own_state();
	}
	for (int i = 0; i < BLOCKS; i++)
		self_block_free(&me->blocks[i]);
	return NULL;
}

/* ---- who shoots ------------------------------------------------------------------------------ */

static void send(struct fighter *fighter, int value)
{
	int err;

	while ((err = pthread_sigqueue(fighter->thread, SIGQUEUED,
				       (union sigval){.sival_int = value}))) {
		SELF_CHECK(err == EAGAIN); /* all processes of a user share one limit */
		usleep(1000);
	}
}

static bool has_handled(const struct fighter *fighter, int count)
{
	const uint64_t end = self_now_ns() + PATIENCE_NS;

	while (__atomic_load_n(&fighter->queued, __ATOMIC_ACQUIRE) < count) {
		if (self_now_ns() > end)
			return false;
		usleep(100);
	}
	return true;
}

static void *shoot(void *unused)
{
	struct self_worker *worker = self_worker_new();
	int sent = 0;

	while (!self_is_stopping()) {
		for (int i = 0; i < BATCH; i++, sent++)
			for (int j = 0; j < THREADS; j++)
				send(&fighters[j], sent);
		for (int j = 0; j < THREADS; j++)
			if (!has_handled(&fighters[j], sent)) {
				self_lost(sent - fighters[j].queued);
				return NULL;
			}
		self_step(worker);
	}
	return unused;
}

int main(int argc, char **argv)
{
	sigset_t fire;
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	pthread_t shooter;

	jumps = argc > 1 && strcmp(argv[1], "jump") == 0;
	sigemptyset(&fire);
	sigaddset(&fire, SIGTICK);
	sigaddset(&fire, SIGQUEUED);
	pthread_sigmask(SIG_BLOCK, &fire, NULL); /* in all threads but those under fire */
	action.sa_sigaction = on_tick;
	action.sa_mask = fire; /* a handler that is left must not have interrupted the other one */
	sigaction(SIGTICK, &action, NULL);
	action.sa_sigaction = on_queued;
	sigaction(SIGQUEUED, &action, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&fighters[i].thread, NULL, fight, &fighters[i]);
	for (int i = 0; i < THREADS; i++)
		while (!__atomic_load_n(&fighters[i].has_begun, __ATOMIC_ACQUIRE))
			usleep(100);
	pthread_create(&shooter, NULL, shoot, NULL);
	self_ready();
	while (self_serve(-1))
		;
	pthread_join(shooter, NULL); /* first: its signals need somebody to handle them */
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(fighters[i].thread, NULL);
	return self_end();
}
