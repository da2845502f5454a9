/* SPDX-License-Identifier: MIT */
/* quiesce.c - see quiesce.h. */
#include "quiesce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "blocked.h"
#include "blocked_stack.h"
#include "borrow.h"
#include "clock.h"
#include "hi_page.h"
#include "hi_wire.h"
#include "memory_sharers.h"
#include "thread_table.h"

/*
 * For one thread, at first and at most. Doubled in each pass, because on a starved machine a thread
 * reaches its stop only when it gets a CPU.
 */
#define STOP_DEADLINE_MS 200
#define STOP_DEADLINE_MAX_MS 1600
#define RETRY_NS 500000
#define WINDOW 64    /* threads that are asked to stop at the same time */
#define ASLEEP_MAX 4 /* at most so many of them asleep: those all stop at once */
#define COPIES 8     /* of stacks that remain to be walked */
/* for a thread that cannot stop; then it is examined from outside */
#define BLOCKED_PATIENCE_MS 2000
/*
 * A stack that cannot be judged at first nor after this time will never be; and few signal handlers
 * take so long.
 */
#define UNREAD_PATIENCE_MS 10
/* By then most threads wait again, and are seen to (tracee_look_at). */
#define RUNNING_PATIENCE_MS 50

static void pause_ns(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* Hook frames that will still return into the payload, over all threads. */
static int frames_in_flight(const struct quiesce_target *target, uint64_t *out_frames)
{
	static struct inside inside; /* one detach at a time */
	const int err = thread_table_read(target->escaped->memory, target->thread_slots, &inside);
	if (!err)
		*out_frames = inside.frames;
	return err;
}

bool quiesce_is_inside(const struct quiesce_target *target, remote_addr address)
{
	address = arch_plain_address(address);
	for (size_t i = 0; i < target->near_pages; i++)
		if (target->near_page[i] && address - target->near_page[i] < hi_page_bytes())
			return true;
	if (address && address == target->return_gadget)
		return true;
	return (address >= target->gate_lo && address < target->gate_hi) ||
	       (address >= target->payload_lo && address < target->payload_hi) ||
	       (address >= target->probes_lo && address < target->probes_hi);
}

static bool walk_is_inside(const struct quiesce_target *target, const struct stackwalk *walk)
{
	for (size_t i = 0; i < walk->count; i++)
		if (quiesce_is_inside(target, walk->pc[i]))
			return true;
	return false;
}

struct tids {
	pid_t *tid;
	size_t count;
};

struct pass {
	const struct quiesce_target *target;
	struct quiesced *result;
	uint64_t deadline_ns;
	int stop_deadline_ms;
	uint64_t patient_until_ns; /* until then no transfer of a thread is broken off (borrow.h) */
	/*
	 * until a moment after the last thread that waits was asked to stop, none is that has a CPU
	 * or lacks one, if ARCH_STOP_ENDS_CALLS
	 */
	uint64_t running_until_ns;
	uint64_t blocked_until_ns; /* until then, threads that cannot stop are waited for */
	/* passes that begin before that are patient; 0 = every stack could be judged so far */
	uint64_t unread_until_ns;
	bool is_patient;               /* threads whose stacks cannot be judged are busy */
	struct memory_threads threads; /* of this pass */
	struct tids clear;             /* threads that were seen outside */
	struct tids deep;              /* threads whose stacks are deeper than what can be copied */
	/* threads whose stacks could not be judged; not asked again while the pass is patient */
	struct tids unread;
	bool is_busy; /* some thread is not clear */
};

static bool is_listed(const struct tids *tids, pid_t tid)
{
	for (size_t i = 0; i < tids->count; i++)
		if (tids->tid[i] == tid)
			return true;
	return false;
}

static int make_room(struct tids *tids, size_t more)
{
	pid_t *grown = realloc(tids->tid, (tids->count + more + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	tids->tid = grown;
	return 0;
}

static void note_busy(struct pass *pass, pid_t tid)
{
	pass->is_busy = true;
	pass->result->stuck = tid;
}

static void note_clear(struct pass *pass, pid_t tid)
{
	pass->clear.tid[pass->clear.count++] = tid;
}

/* Its stack could not be judged, and it is too early to look again. */
static bool is_waited_for(const struct pass *pass, pid_t tid)
{
	return pass->is_patient && is_listed(&pass->unread, tid);
}

static int let_go(struct pass *pass, struct tracee *tracee)
{
	const int err = tracee_detach(tracee);
	if (tracee->held_ns > 0 && (uint64_t)tracee->held_ns > pass->result->longest_stop_ns)
		pass->result->longest_stop_ns = (uint64_t)tracee->held_ns;
	return err;
}

/*
 * Examines and fixes up the registers of a stopped thread. -EAGAIN: it is inside, or on a stack in
 * the arena, which means a call of the dlopen loader that outlived its injector.
 */
static int look_at_registers(struct pass *pass, struct tracee *tracee)
{
	const struct quiesce_target *target = pass->target;
	struct arch_regs regs;
	int err =
		escaped_fix_up_registers(target->escaped, tracee, &regs, &pass->result->registers);
	if (err)
		return err;
	pass->result->thread_pointer = arch_thread_pointer(&regs);
	const bool is_on_our_stack = arch_sp(&regs) >= target->escaped->skip_lo &&
				     arch_sp(&regs) < target->escaped->skip_hi;
	return is_on_our_stack || quiesce_is_inside(target, arch_pc(&regs)) ? -EAGAIN : 0;
}

/*
 * True if all of the stack was copied (up to the thread pointer or to the end of the mapping) and
 * no word of it leads inside.
 */
static bool is_copy_clear(const struct quiesce_target *target, const struct stackwalk_copy *copy)
{
	const remote_addr thread = arch_thread_pointer(&copy->regs);
	const size_t used = thread > copy->from ? (size_t)(thread - copy->from) : SIZE_MAX;
	if (!copy->size || (copy->size == sizeof(copy->byte) && used > copy->size))
		return false;
	uint64_t word;
	for (size_t at = (size_t)(arch_sp(&copy->regs) - copy->from) & ~7ull;
	     at + sizeof(word) <= copy->size && at < used; at += sizeof(word)) {
		memcpy(&word, copy->byte + at, sizeof(word));
		if (quiesce_is_inside(target, word))
			return false;
	}
	return true;
}

/*
 * Judges a thread whose pc was outside by the walk of its stack. A walk that was cut says nothing
 * about the frames above: a signal handler may have interrupted the thread in the first
 * instructions of a hook, where it is not counted yet. Then no word of the stack may lead inside.
 * If some do, most often they are remains of earlier calls; if the stack cannot be read, there are
 * no words to check. Neither may keep the injector for ever, so such a thread is examined once
 * more.
 */
static void judge(struct pass *pass, pid_t tid, const struct stackwalk *walk,
		  const struct stackwalk_copy *copy)
{
	if (walk_is_inside(pass->target, walk)) {
		note_busy(pass, tid);
	} else if (!walk->is_cut || is_copy_clear(pass->target, copy) || !pass->is_patient) {
		note_clear(pass, tid);
	} else {
		if (!pass->unread_until_ns)
			pass->unread_until_ns = clock_now_ns() + UNREAD_PATIENCE_MS * 1000000u;
		pass->unread.tid[pass->unread.count++] = tid;
		note_busy(pass, tid);
	}
}

/*
 * A stack deeper than what can be copied is walked while its thread is stopped, and only when no
 * other thread is.
 */
static int look_at_deep_stack(struct pass *pass, pid_t tid)
{
	static struct stackwalk_copy copy; /* one pass at a time */
	struct stackwalk walk;
	struct tracee tracee;
	int err = tracee_stop(&tracee,
			      memory_threads_pid(&pass->threads, tid, pass->target->escaped->pid),
			      tid, pass->stop_deadline_ms);
	if (err)
		return err;
	err = look_at_registers(pass, &tracee);
	if (!err)
		err = stackwalk_read(pass->target->walker, &tracee, &walk);
	if (!err && walk.is_cut)
		err = stackwalk_copy(&tracee, &copy);
	const int detached = let_go(pass, &tracee);
	err = err ? err : detached;
	if (!err)
		judge(pass, tid, &walk, &copy);
	return err;
}

/* ---- many at once ---------------------------------------------------------------------------- */

/* A thread that was asked to stop and has not been examined yet. */
struct waiting {
	struct tracee tracee;
	uint64_t since_ns;
	/* it was asleep when asked: it stops at once, the others when they get a CPU */
	bool is_asleep;
};

/* A thread that was examined and goes on: its stack remains to be walked. */
struct seen {
	pid_t tid;
	struct stackwalk_copy stack;
};

struct window {
	struct waiting waiting[WINDOW];
	size_t count;
	struct seen seen[COPIES];
	size_t seen_count;
};

/* Counts the threads that are still waited for: asked to stop less than stop_deadline_ms ago. */
static size_t count_in_time(const struct pass *pass, const struct window *window, bool only_asleep)
{
	const uint64_t now = clock_now_ns();
	size_t count = 0;
	for (size_t i = 0; i < window->count; i++)
		count += (window->waiting[i].is_asleep || !only_asleep) &&
			 now - window->waiting[i].since_ns <
				 (uint64_t)pass->stop_deadline_ms * 1000000u;
	return count;
}

/*
 * Asks a thread to stop. False: not now, as so many sleepers woken at once would wait for each
 * other.
 */
static bool ask(struct pass *pass, struct window *window, const struct memory_thread *thread)
{
	const pid_t pid = thread->pid, tid = thread->tid;
	struct waiting *last = &window->waiting[window->count];
	struct proc_syscall call = {.running = true};
	struct tracee_look look = {0};
	(void)!proc_syscall_read(pid, tid, &call);
	if (ARCH_STOP_ENDS_CALLS) {
		tracee_look_at(pid, tid, &look);
		call.running = !look.call.is_known;
	}
	if (!call.running && count_in_time(pass, window, true) >= ASLEEP_MAX)
		return false;
	const uint64_t now_ns = clock_now_ns();
	if ((now_ns < pass->patient_until_ns &&
	     (thread->is_awaited || borrow_is_transferring(pid, tid))) ||
	    (ARCH_STOP_ENDS_CALLS && now_ns < pass->running_until_ns && call.running)) {
		note_busy(pass, tid);
		return true;
	}
	last->since_ns = clock_now_ns();
	last->is_asleep = !call.running;
	if (last->is_asleep)
		pass->running_until_ns = now_ns + RUNNING_PATIENCE_MS * 1000000u;
	const int err = tracee_halt(&last->tracee, pid, tid, ARCH_STOP_ENDS_CALLS ? &look : NULL);
	if (!err)
		window->count++;
	else if (err == -ESRCH) /* a thread that has ended is outside */
		note_clear(pass, tid);
	else
		note_busy(pass, tid);
	return true;
}

/*
 * The thread has stopped. It goes on as soon as its registers have been examined and its stack
 * copied. The proof needs only that it was outside at a time when no thread could come in any more,
 * so it need not wait while the copy is walked.
 */
static int look_at(struct pass *pass, struct window *window, struct tracee *tracee)
{
	struct seen *seen = &window->seen[window->seen_count];
	const pid_t tid = tracee->tid;
	int err = look_at_registers(pass, tracee);
	if (!err && pass->target->walker)
		err = stackwalk_copy(tracee, &seen->stack);
	const int detached = let_go(pass, tracee);
	err = err ? err : detached;
	if (!err && pass->target->walker) {
		seen->tid = tid;
		window->seen_count++;
	} else if (!err) {
		note_clear(pass, tid);
	}
	return err;
}

/*
 * Examines the threads that have stopped by now, as many as there is room for. False: none had
 * stopped.
 */
static bool look_at_stopped(struct pass *pass, struct window *window)
{
	bool some = false;
	for (size_t i = 0; i < window->count && window->seen_count < COPIES;) {
		struct waiting *one = &window->waiting[i];
		const pid_t tid = one->tracee.tid;
		int err = tracee_has_stopped(&one->tracee);
		if (err == -EAGAIN) {
			i++;
			continue;
		}
		if (err)
			(void)tracee_detach(&one->tracee);
		else
			err = look_at(pass, window, &one->tracee);
		if (err == -ESRCH)
			note_clear(pass, tid);
		else if (err)
			note_busy(pass, tid);
		*one = window->waiting[--window->count];
		some = true;
	}
	return some;
}

static void walk_seen(struct pass *pass, struct window *window)
{
	for (size_t i = 0; i < window->seen_count; i++) {
		const struct seen *seen = &window->seen[i];
		struct stackwalk walk;
		const int err =
			stackwalk_read_copy(pass->target->walker, seen->tid, &seen->stack, &walk);
		if (err == -E2BIG)
			pass->deep.tid[pass->deep.count++] = seen->tid;
		if (!err)
			judge(pass, seen->tid, &walk, &seen->stack);
		else
			note_busy(pass, seen->tid);
	}
	window->seen_count = 0;
}

/*
 * For a thread that cannot stop, for an unknown time: everything but its registers can be seen from
 * outside. If it waits in vfork, its child, which is listed, must have been seen, too.
 */
static bool is_seen_from_outside(const struct pass *pass, pid_t pid, pid_t tid)
{
	const struct quiesce_target *target = pass->target;
	const struct escaped_target *escaped = target->escaped;
	const struct blocked_range ranges[] = {{target->gate_lo, target->gate_hi},
					       {target->payload_lo, target->payload_hi},
					       {target->probes_lo, target->probes_hi},
					       {escaped->skip_lo, escaped->skip_hi}};
	const size_t count = sizeof(ranges) / sizeof(*ranges);
	struct blocked blocked;
	uint64_t flags, flags_at;
	if (clock_now_ns() < pass->blocked_until_ns ||
	    blocked_stack_look(escaped->memory, pid, tid, ranges, count) ||
	    blocked_look(pid, tid, &blocked) || !blocked.is_blocked)
		return false;
	if (blocked.child)
		return is_listed(&pass->clear, blocked.child);
	/* otherwise it has a child, but which is not known */
	return !arch_is_clone(blocked.call.number, blocked.call.argument, &flags, &flags_at);
}

/* The tracing thread ends after this. Then the kernel detaches the threads that did not stop. */
static void give_up(struct pass *pass, struct window *window)
{
	for (size_t i = 0; i < window->count; i++) {
		const pid_t pid = window->waiting[i].tracee.pid,
			    tid = window->waiting[i].tracee.tid;
		if (is_seen_from_outside(pass, pid, tid)) {
			note_clear(pass, tid);
			pass->result->unseen = tid;
			pass->result->unseen_pid = pid;
		} else {
			note_busy(pass, tid);
		}
		tracee_abandon(&window->waiting[i].tracee);
	}
}

/* Asks the next threads to stop, as many as allowed. Returns how far it came. */
static size_t ask_more(struct pass *pass, struct window *window, size_t next)
{
	while (next < pass->threads.count && window->count < WINDOW) {
		const struct memory_thread *thread = &pass->threads.thread[next];
		const pid_t tid = thread->tid;
		if (is_waited_for(pass, tid))
			note_busy(pass, tid);
		else if (!is_listed(&pass->clear, tid) && !is_listed(&pass->deep, tid) &&
			 !ask(pass, window, thread))
			break;
		next++;
	}
	return next;
}

/*
 * Asks many threads at once: on a machine with more threads than CPUs each reaches its stop only
 * when its turn comes, and until then it does not wait for us. Stacks are walked when no thread is
 * stopped.
 */
static void check_listed(struct pass *pass)
{
	static struct window window; /* one pass at a time */
	size_t next = 0;
	window.count = window.seen_count = 0;
	for (;;) {
		next = ask_more(pass, &window, next);
		const bool some = look_at_stopped(pass, &window);
		if (some && window.seen_count < COPIES)
			continue;
		walk_seen(pass, &window);
		if (clock_now_ns() >= pass->deadline_ns)
			break;
		if (some)
			continue;
		/* no thread is left, or none that will stop */
		if (!count_in_time(pass, &window, false))
			break;
		tracee_nap();
	}
	if (next < pass->threads.count)
		note_busy(pass, pass->threads.thread[next].tid);
	give_up(pass, &window);
}

/* Examines threads with deep stacks, before any other is asked to stop. */
static void check_deep(struct pass *pass)
{
	for (size_t i = 0; i < pass->deep.count; i++) {
		const pid_t tid = pass->deep.tid[i];
		if (is_listed(&pass->clear, tid) || is_waited_for(pass, tid))
			continue;
		const int err = clock_now_ns() < pass->deadline_ns ? look_at_deep_stack(pass, tid)
								   : -EAGAIN;
		if (err == -ESRCH)
			note_clear(pass, tid);
		else if (err)
			note_busy(pass, tid);
	}
}

/*
 * Examines every thread that is not clear yet, in a tracing thread of its own. Threads born
 * meanwhile can have come in only through an escaped pointer; they are examined, too.
 */
static int check_threads(void *context)
{
	struct pass *pass = context;
	int err = memory_threads_list(pass->target->escaped->pid, &pass->threads);
	if (err)
		return err;
	const size_t count = pass->threads.count;
	err = make_room(&pass->clear, count);
	if (!err)
		err = make_room(&pass->deep, count);
	if (!err)
		err = make_room(&pass->unread, count + pass->deep.count);
	if (!err) {
		pass->is_patient = !pass->unread_until_ns || clock_now_ns() < pass->unread_until_ns;
		pass->is_busy = false;
		if (pass->threads.unknown)
			note_busy(pass, pass->threads.unknown);
		check_deep(pass);
		check_listed(pass);
	}
	memory_threads_close(&pass->threads);
	if (err)
		return err;
	return pass->is_busy ? -EAGAIN : 0;
}

int quiesce(const struct quiesce_target *target, int deadline_ms, struct quiesced *out_result)
{
	struct quiesced result = {0};
	const uint64_t begin = clock_now_ns(), deadline = begin + (uint64_t)deadline_ms * 1000000u;
	struct pass pass = {.target = target,
			    .result = &result,
			    .deadline_ns = deadline,
			    .stop_deadline_ms = STOP_DEADLINE_MS,
			    .patient_until_ns = begin + BORROW_PATIENCE_MS * 1000000u,
			    .running_until_ns = begin + RUNNING_PATIENCE_MS * 1000000u,
			    .blocked_until_ns = begin + BLOCKED_PATIENCE_MS * 1000000ull};
	int err;
	for (;;) {
		err = frames_in_flight(target, &result.frames);
		if (!err && result.frames)
			err = -EAGAIN;
		if (!err)
			err = tracee_worker(check_threads, &pass);
		if (!err) /* a thread that was inside while others were examined shows here */
			err = frames_in_flight(target, &result.frames) ? -ESRCH
			      : result.frames                          ? -EAGAIN
								       : 0;
		if (err != -EAGAIN || clock_now_ns() >= deadline)
			break;
		if (!result.frames && pass.stop_deadline_ms < STOP_DEADLINE_MAX_MS)
			pass.stop_deadline_ms *= 2;
		pause_ns(RETRY_NS);
	}
	result.threads = pass.clear.count;
	free(pass.clear.tid);
	free(pass.deep.tid);
	free(pass.unread.tid);
	*out_result = result;
	return err == -EAGAIN ? -EBUSY : err;
}
