/* SPDX-License-Identifier: MIT */
/*
 * stop_world.c - see stop_world.h. Only a running thread can create another thread, or a process in
 * its memory. So once a look at the list of threads finds none that is not held, there is none.
 */
#include "stop_world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "memory_sharers.h"

/* with threads that run, at first; doubled after each failed attempt */
#define PATIENCE_NS 5000000ull
/* upper limit: on an overloaded machine a thread waits so long for a CPU, to reach its stop */
#define PATIENCE_MAX_NS 200000000ull
#define SLEEPER_NS 100000ull /* for each sleeping thread: it only needs to be woken */
#define PAUSE_TIMES 20       /* pause until the next attempt, as a multiple of what this one took */
#define PAUSE_MIN_NS 10000000ull
#define ALLOWED_NS 500000000ull /* for all attempts of a session together, */
#define ALLOWED_SHARE 1000      /* plus one part in so many of the time since the first */
#define ASLEEP_NS 3000000       /* a thread that sleeps for so long is taken to sleep on */
#define RETURN_NS 1000000       /* most threads that only return from a call wait again by then */
#define SECOND_LOOK_NS 1000000  /* most uninterruptible waits are over by then */
#define ASK_AGAIN_NS 2000000

/* ---- the allowance --------------------------------------------------------------------------- */

static struct session {
	struct stop_world_account account;
	uint64_t first_ns, next_ns, patience_ns, more_ns;
} session;

static uint64_t allowed_ns(uint64_t now_ns)
{
	return ALLOWED_NS + session.more_ns +
	       (session.first_ns ? (now_ns - session.first_ns) / ALLOWED_SHARE : 0);
}

struct stop_world_account stop_world_account(void)
{
	struct stop_world_account account = session.account;
	account.allowed_ns = allowed_ns(clock_now_ns());
	return account;
}

void stop_world_allow(int more_ms)
{
	const uint64_t wanted_ns = session.account.used_ns + (uint64_t)more_ms * 1000000,
		       allowed = allowed_ns(clock_now_ns());
	session.more_ns += wanted_ns > allowed ? wanted_ns - allowed : 0;
	session.next_ns = 0;
}

void stop_world_reset(void)
{
	session = (struct session){0};
}

static bool may_begin(void)
{
	const uint64_t now_ns = clock_now_ns();
	if (!session.first_ns) {
		session.first_ns = now_ns;
		session.patience_ns = PATIENCE_NS;
	}
	return now_ns >= session.next_ns &&
	       session.account.used_ns + session.patience_ns <= allowed_ns(now_ns);
}

static void note_used(uint64_t held_ns)
{
	session.account.used_ns += held_ns;
	if (held_ns > session.account.longest_ns)
		session.account.longest_ns = held_ns;
}

static void note_done(const struct stop_world *world, uint64_t held_ns)
{
	note_used(held_ns);
	session.account.count[world->purpose]++;
	if (world->awake_ns > session.account.longest_awake_ns)
		session.account.longest_awake_ns = world->awake_ns;
	session.patience_ns = PATIENCE_NS;
	session.next_ns = 0;
}

/* held_ns: 0 = a look was enough, and no thread was stopped */
static void note_given_up(const struct stop_world *world, uint64_t held_ns)
{
	const uint64_t pause_ns = held_ns * PAUSE_TIMES;
	session.next_ns = clock_now_ns() + (pause_ns > PAUSE_MIN_NS ? pause_ns : PAUSE_MIN_NS);
	if (world->obstacle.tid)
		blocked_explain(world->obstacle.pid, world->obstacle.tid, session.account.obstacle);
	else if (world->unknown)
		snprintf(session.account.obstacle, BLOCKED_TEXT,
			 "process %d may share the memory, and we may not look at it",
			 (int)world->unknown);
	if (!held_ns)
		return;
	note_used(held_ns);
	session.account.given_up++;
	if (held_ns > session.account.given_up_longest_ns)
		session.account.given_up_longest_ns = held_ns;
	if (session.patience_ns < PATIENCE_MAX_NS)
		session.patience_ns *= 2;
}

/* ---- looking first --------------------------------------------------------------------------- */

static int list_threads(struct stop_world *world, struct memory_threads *out_threads)
{
	int err = memory_threads_list(world->pid, out_threads);
	if (err || !out_threads->unknown)
		return err;
	world->unknown = out_threads->unknown;
	memory_threads_close(out_threads);
	return -EAGAIN;
}

static void note_obstacle(struct stop_world *world, pid_t pid, pid_t tid)
{
	world->obstacle.pid = pid;
	world->obstacle.tid = tid;
}

static bool is_in_the_way(const struct stop_world *world, const struct memory_thread *thread,
			  struct blocked *out_blocked)
{
	return !blocked_look(thread->pid, thread->tid, out_blocked) && out_blocked->is_blocked &&
	       (out_blocked->effect > world->effect || out_blocked->child_traced);
}

/*
 * Is any thread in a wait that would prevent the stop? Most such waits are over at once: only a
 * thread that is found in the same wait twice counts.
 */
static int look_first(struct stop_world *world)
{
	struct memory_threads threads;
	int err = list_threads(world, &threads);
	if (err)
		return err;
	for (size_t i = 0; i < threads.count && !err; i++) {
		const struct memory_thread *thread = &threads.thread[i];
		struct blocked first, second;
		if (blocked_state(thread->pid, thread->tid) != 'D' ||
		    !is_in_the_way(world, thread, &first))
			continue;
		tracee_pause(SECOND_LOOK_NS);
		if (!is_in_the_way(world, thread, &second) ||
		    second.call.number != first.call.number || second.call.sp != first.call.sp)
			continue;
		note_obstacle(world, thread->pid, thread->tid);
		err = -EAGAIN;
	}
	memory_threads_close(&threads);
	return err;
}

/* ---- stopping -------------------------------------------------------------------------------- */

static int compare_tids(const void *left, const void *right)
{
	const pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;
	return (a > b) - (a < b);
}

/* A thread that has ended stays in the list if it is the first thread of a process. */
static bool is_over(const struct memory_thread *thread)
{
	const char state = blocked_state(thread->pid, thread->tid);
	return !state || state == 'Z' || state == 'X';
}

/* Drops threads that are held or have ended. Those that remain have to be asked. */
static int drop_held(const struct stop_world *world, struct memory_threads *threads)
{
	pid_t *held = calloc(world->count + 1, sizeof(*held));
	size_t kept = 0;
	if (!held)
		return -ENOMEM;
	for (size_t i = 0; i < world->count; i++)
		held[i] = world->tracee[i].tid;
	qsort(held, world->count, sizeof(*held), compare_tids);
	for (size_t i = 0; i < threads->count; i++)
		if (!bsearch(&threads->thread[i].tid, held, world->count, sizeof(*held),
			     compare_tids) &&
		    !is_over(&threads->thread[i]))
			threads->thread[kept++] = threads->thread[i];
	threads->count = kept;
	free(held);
	return 0;
}

/*
 * Children of vfork are asked when all other threads are held. By then most have left the memory,
 * and their parents' threads, which wait for the rest, have been asked to stop.
 */
static void put_off_awaited(struct memory_threads *threads)
{
	size_t kept = 0;
	for (size_t i = 0; i < threads->count; i++)
		if (!threads->thread[i].is_awaited)
			threads->thread[kept++] = threads->thread[i];
	if (kept)
		threads->count = kept;
}

/*
 * Stopping a thread that sleeps on delays nothing, and with thousands of threads nearly all do. So
 * they are stopped before those that work, which must then stay stopped for as long as the rest
 * takes. A thread that was on a CPU since the first look works; where the kernel does not tell, one
 * that sleeps now is taken to sleep on. out_sleepers: the number of sleepers, at the head of the
 * list; out_look: of each of them.
 */
static int sort_threads(struct memory_threads *threads, size_t *out_sleepers,
			struct tracee_look *out_look)
{
	uint64_t *turns = calloc(threads->count + 1, sizeof(*turns));
	struct memory_thread *working = calloc(threads->count + 1, sizeof(*working));
	size_t work = 0, sleep = 0;
	if (!turns || !working) {
		free(turns);
		free(working);
		return -ENOMEM;
	}
	for (size_t i = 0; i < threads->count; i++)
		turns[i] = proc_turns(threads->thread[i].pid, threads->thread[i].tid);
	tracee_pause(ASLEEP_NS);
	for (size_t i = 0; i < threads->count; i++) {
		const struct memory_thread thread = threads->thread[i];
		struct tracee_look *look = &out_look[sleep];
		if (blocked_state(thread.pid, thread.tid) == 'S' &&
		    tracee_look_at(thread.pid, thread.tid, look) == turns[i])
			threads->thread[sleep++] = thread;
		else
			working[work++] = thread;
	}
	memcpy(threads->thread + sleep, working, work * sizeof(*working));
	*out_sleepers = sleep;
	free(turns);
	free(working);
	return 0;
}

/* Asks a thread to stop, and appends it to world->tracee. look: an earlier one, or NULL. */
static int ask(struct stop_world *world, const struct memory_thread *thread,
	       const struct tracee_look *look)
{
	if (!world->since_ns)
		world->since_ns = clock_now_ns();
	if (clock_now_ns() - world->since_ns >= world->give_up_ns)
		return -EAGAIN;
	const int err = tracee_halt(&world->tracee[world->count], thread->pid, thread->tid, look);
	if (!err)
		world->count++;
	else if (err != -ESRCH) /* otherwise it has ended */
		note_obstacle(world, thread->pid, thread->tid);
	return err == -ESRCH ? 0 : err;
}

/*
 * The thread has been asked to stop, and waits in the kernel for something harmless: that is as
 * good as a stop. A child that it waits for in vfork is listed, and will be held as well.
 */
static bool is_harmless(const struct stop_world *world, const struct tracee *tracee)
{
	struct blocked blocked;
	return !blocked_look(tracee->pid, tracee->tid, &blocked) && blocked.is_blocked &&
	       blocked.effect <= world->effect;
}

/*
 * Waits for the threads from number `first` on, all of which have been asked to stop. Drops those
 * that end meanwhile.
 */
static int wait_for(struct stop_world *world, size_t first, uint64_t deadline_ns)
{
	for (size_t i = first; i < world->count;) {
		struct tracee *tracee = &world->tracee[i];
		int err = tracee_has_stopped(tracee);
		if (err == -EAGAIN && is_harmless(world, tracee))
			err = 0;
		if (!err) {
			i++;
		} else if (err == -ESRCH) {
			(void)tracee_detach(tracee);
			*tracee = world->tracee[--world->count];
		} else if (err != -EAGAIN) {
			return err;
		} else if (clock_now_ns() >= deadline_ns ||
			   clock_now_ns() - world->since_ns >= world->give_up_ns) {
			note_obstacle(world, tracee->pid, tracee->tid);
			return -EAGAIN;
		} else {
			tracee_nap();
		}
	}
	return 0;
}

/* look: of each of them, or NULL */
static int ask_and_wait(struct stop_world *world, const struct memory_thread *thread,
			const struct tracee_look *look, size_t count, uint64_t patience_ns)
{
	const size_t first = world->count;
	int err = 0;
	for (size_t i = 0; i < count && !err; i++)
		err = ask(world, &thread[i], look ? &look[i] : NULL);
	return err ? err : wait_for(world, first, clock_now_ns() + patience_ns);
}

static int make_room(struct stop_world *world, size_t more)
{
	struct tracee *grown = realloc(world->tracee, (world->count + more + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	world->tracee = grown;
	return 0;
}

/* Stops every listed thread that is not held yet. out_stopped: their number. */
static int stop_listed(struct stop_world *world, size_t *out_stopped)
{
	struct memory_threads threads;
	size_t sleepers = 0;
	int err = list_threads(world, &threads);
	if (err)
		return err;
	struct tracee_look *look = calloc(threads.count + 1, sizeof(*look));
	if (!look)
		err = -ENOMEM;
	if (!err && world->count) /* this finds threads that were born since: few, if any */
		err = drop_held(world, &threads);
	put_off_awaited(&threads);
	if (!err && !world->count)
		err = sort_threads(&threads, &sleepers, look);
	if (!err)
		err = make_room(world, threads.count);
	*out_stopped = threads.count;
	if (!err)
		err = ask_and_wait(world, threads.thread, look, sleepers,
				   session.patience_ns + sleepers * SLEEPER_NS);
	if (!world->awake_ns && threads.count > sleepers) {
		world->awake_ns = clock_now_ns();
		world->awake_from = world->count;
	}
	if (!err && ARCH_STOP_ENDS_CALLS && threads.count > sleepers)
		tracee_pause(RETURN_NS);
	if (!err)
		err = ask_and_wait(world, threads.thread + sleepers, NULL, threads.count - sleepers,
				   session.patience_ns);
	free(look);
	memory_threads_close(&threads);
	return err;
}

/*
 * Threads that were running are let go first. Those that have not stopped are let go when the
 * tracing thread ends, which is soon.
 */
static int let_go(struct stop_world *world, uint64_t *out_held_ns)
{
	int first = 0;
	for (size_t i = world->count; i--;) {
		struct tracee *tracee = &world->tracee[i];
		const bool is_under_way =
			tracee->state == TRACEE_RUNNING && tracee_has_stopped(tracee) == -EAGAIN;
		const int err = is_under_way ? 0 : tracee_detach(tracee);
		if (err && err != -ESRCH && !first)
			first = err;
		if (world->awake_ns && i == world->awake_from)
			world->awake_ns = clock_now_ns() - world->awake_ns;
	}
	*out_held_ns = world->since_ns ? clock_now_ns() - world->since_ns : 0;
	for (size_t i = 0; i < world->count; i++)
		tracee_abandon(&world->tracee[i]);
	free(world->tracee);
	world->tracee = NULL;
	world->count = 0;
	return first;
}

int stop_world_begin_within(struct stop_world *world, pid_t pid, enum stop_world_purpose purpose,
			    uint64_t patience_ns)
{
	/* A system call may write to a word that holds a copy, but never to a slot. */
	*world = (struct stop_world){.pid = pid,
				     .purpose = purpose,
				     .give_up_ns = patience_ns,
				     .effect = purpose == STOP_WORLD_COPIES ? ARCH_CALL_READS
									    : ARCH_CALL_WRITES};
	if (!may_begin())
		return -EAGAIN;
	if (patience_ns != UINT64_MAX)
		session.patience_ns = patience_ns;
	size_t stopped = 1;
	int err = look_first(world);
	while (!err && stopped)
		err = stop_listed(world, &stopped);
	if (!err)
		return 0;
	uint64_t held_ns;
	(void)let_go(world, &held_ns);
	note_given_up(world, held_ns);
	/* EPERM: another program traces one of them just now */
	return err == -EPERM ? -EAGAIN : err;
}

int stop_world_begin(struct stop_world *world, pid_t pid, enum stop_world_purpose purpose)
{
	return stop_world_begin_within(world, pid, purpose, UINT64_MAX);
}

int stop_world_end(struct stop_world *world, uint64_t *out_held_ns)
{
	const int err = let_go(world, out_held_ns);
	note_done(world, *out_held_ns);
	return err;
}

/* ---- errands --------------------------------------------------------------------------------- */

struct errand {
	pid_t pid;
	enum stop_world_purpose purpose;
	int (*work)(void *);
	void *context;
	uint64_t held_ns;
};

static int run_errand(void *context)
{
	struct errand *errand = context;
	struct stop_world world;
	int err = stop_world_begin(&world, errand->pid, errand->purpose);
	if (err)
		return err;
	err = errand->work(errand->context);
	const int ended = stop_world_end(&world, &errand->held_ns);
	return err ? err : ended;
}

int stop_world_do(pid_t pid, enum stop_world_purpose purpose, int (*work)(void *), void *context,
		  uint64_t *out_held_ns)
{
	struct errand errand = {.pid = pid, .purpose = purpose, .work = work, .context = context};
	const int err = may_begin() ? tracee_worker(run_errand, &errand) : -EAGAIN;
	*out_held_ns = errand.held_ns;
	return err;
}

int stop_world_wait(pid_t pid, enum stop_world_purpose purpose, int (*work)(void *), void *context,
		    int deadline_ms, uint64_t *out_held_ns)
{
	const struct timespec pause = {.tv_nsec = ASK_AGAIN_NS};
	const uint64_t deadline_ns = clock_now_ns() + (uint64_t)deadline_ms * 1000000;
	int err;
	while ((err = stop_world_do(pid, purpose, work, context, out_held_ns)) == -EAGAIN &&
	       clock_now_ns() < deadline_ns)
		nanosleep(&pause, NULL);
	return err;
}
