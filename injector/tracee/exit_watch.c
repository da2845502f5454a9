/* SPDX-License-Identifier: MIT */
/*
 * exit_watch.c - see exit_watch.h. The tracing thread runs watch_main().
 *
 * At the exit of a process the kernel ends all its threads, and each stops at its own
 * PTRACE_EVENT_EXIT. Their memory goes with the last of them. A thread that ends alone is let go at
 * once: it called exit and not exit_group, and is not the last one. Threads are also ended by an
 * exec in another one, which waits until they are gone: so it must not be kept waiting.
 */
#include "exit_watch.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "procfs.h"

#define OPTIONS (PTRACE_O_TRACEEXIT | PTRACE_O_TRACECLONE)
#define NAP_NS 20000000
/* while it is waited for the last threads; a thread that waits for a disk may take its time */
#define SHORT_NAP_NS 1000000
#define GATHER_NS 10000000000ull
#define SIGNAL_MASK 0x7f /* of an exit status, as wait returns it */

static struct watch {
	pid_t pid, tracer;
	pthread_t thread;
	int (*take)(void *context);
	void *context;
	bool is_running; /* there is a tracing thread */
	bool is_suspended;
	int state; /* enum exit_watch_state; atomic, as the next two */
	bool is_stopped, ends;
	int begun; /* of the tracing thread: 0 = not yet, 1 = it traces, or a negative errno */
	/* of the tracing thread, until the state is HELD */
	struct thread_words *held;
	size_t count;
	uint64_t gathers_ns; /* since when the process exits; 0 = it does not */
} watch;

static void set_state(enum exit_watch_state state)
{
	__atomic_store_n(&watch.state, (int)state, __ATOMIC_RELEASE);
}

static enum exit_watch_state state(void)
{
	return (enum exit_watch_state)__atomic_load_n(&watch.state, __ATOMIC_ACQUIRE);
}

/* ---- the tracing thread ---------------------------------------------------------------------- */

static int go_on(pid_t tid, int request, int signal)
{
	const int err = ptrace_request(request, "exit_watch", tid, 0, (uintptr_t)signal);

	return err == -ESRCH ? 0 : err; /* it was killed, and comes by once more */
}

static bool is_mine(pid_t tid)
{
	struct proc_status status;

	return !proc_status_read(watch.pid, tid, &status) && status.tracer == gettid();
}

static bool is_over(pid_t tid)
{
	struct proc_status status;

	return proc_status_read(watch.pid, tid, &status) || status.state == 'Z' ||
	       status.state == 'X';
}

/* Seizes the threads that are not traced yet. out_new: how many. */
static int seize_listed(size_t *out_new)
{
	pid_t *tids = NULL;
	size_t count = 0;
	int err = proc_tasks(watch.pid, &tids, &count);

	*out_new = 0;
	for (size_t i = 0; !err && i < count; i++) {
		if (is_mine(tids[i]))
			continue;
		err = ptrace_request(PTRACE_SEIZE, "seize", tids[i], 0, OPTIONS);
		*out_new += !err;
		if (err && (is_mine(tids[i]) || is_over(tids[i])))
			err = 0; /* it has come with its creator meanwhile, or has ended */
	}
	free(tids);
	return err;
}

/* Threads that exist already may create others until they are seized. */
static int seize_all(void)
{
	size_t new;
	int err;

	do
		err = seize_listed(&new);
	while (!err && new);
	return err;
}

static bool is_held(pid_t tid)
{
	for (size_t i = 0; i < watch.count; i++)
		if (watch.held[i].tid == tid)
			return true;
	return false;
}

static bool is_in_exec(pid_t tid)
{
	struct proc_syscall call;

	return !proc_syscall_read(watch.pid, tid, &call) &&
	       (call.number == SYS_execve || call.number == SYS_execveat);
}

/*
 * Is a thread left that neither has ended nor is held, `but` aside? out_execs: whether one of them
 * replaces the program; NULL = nobody wants to know.
 */
static bool are_others_left(pid_t but, bool *out_execs)
{
	pid_t *tids;
	size_t count;
	bool is_left = false;

	if (out_execs)
		*out_execs = false;
	if (proc_tasks(watch.pid, &tids, &count))
		return false;
	for (size_t i = 0; i < count && (out_execs || !is_left); i++) {
		if (tids[i] == but || is_held(tids[i]) || is_over(tids[i]))
			continue;
		is_left = true;
		if (out_execs)
			*out_execs |= is_in_exec(tids[i]);
	}
	free(tids);
	return is_left;
}

static void let_go(enum exit_watch_state why)
{
	for (size_t i = 0; i < watch.count; i++) {
		(void)go_on(watch.held[i].tid, PTRACE_CONT, 0);
		thread_words_close(&watch.held[i]);
	}
	watch.count = 0;
	watch.gathers_ns = 0;
	set_state(why);
}

static int hold(const struct thread_words *words)
{
	struct thread_words *grown = realloc(watch.held, (watch.count + 1) * sizeof(*watch.held));

	if (!grown)
		return -ENOMEM;
	watch.held = grown;
	watch.held[watch.count++] = *words;
	if (!watch.gathers_ns)
		watch.gathers_ns = clock_now_ns();
	return 0;
}

/* The thread is at its exit. False: it is to go on. */
static bool hold_at_exit(pid_t tid)
{
	const struct tracee tracee = {.pid = watch.pid, .tid = tid, .state = TRACEE_STOPPED};
	struct arch_regs regs = {0};
	struct thread_words words;
	unsigned long status = 0;

	if (state() != EXIT_WATCH_GOES)
		return false;
	if (ptrace_request(PTRACE_GETEVENTMSG, "exit_watch", tid, 0, (uintptr_t)&status) ||
	    status & SIGNAL_MASK) {
		let_go(EXIT_WATCH_SIGNAL);
		return false;
	}
	if (thread_words_read(&tracee, &regs, &words)) {
		let_go(EXIT_WATCH_MISSED);
		return false;
	}
	const uint64_t call = arch_syscall_number(&regs);
	if (call == SYS_exit_group)
		words.below_sp = 0;
	const bool ends_alone = call == SYS_exit && !watch.gathers_ns && are_others_left(tid, NULL);
	if (ends_alone || hold(&words)) {
		thread_words_close(&words);
		if (!ends_alone)
			let_go(EXIT_WATCH_MISSED);
		return false;
	}
	return true;
}

static bool is_stop_signal(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/*
 * A new process that shares the memory and is created without SIGCHLD as its exit signal comes like
 * a thread.
 */
static bool is_thread_of_it(pid_t tid)
{
	struct proc_status status;

	return tid == watch.pid ||
	       (!proc_status_read(watch.pid, tid, &status) && status.tgid == watch.pid);
}

static void on_stop(pid_t tid, int event, int signal)
{
	if (event == PTRACE_EVENT_EXIT) {
		if (!hold_at_exit(tid))
			(void)go_on(tid, PTRACE_CONT, 0);
	} else if (event == PTRACE_EVENT_STOP && !is_thread_of_it(tid)) {
		(void)go_on(tid, PTRACE_DETACH, 0);
	} else if (event == PTRACE_EVENT_STOP && is_stop_signal(signal)) {
		__atomic_store_n(&watch.is_stopped, true, __ATOMIC_RELEASE);
		(void)go_on(tid, PTRACE_LISTEN, 0);
	} else {
		if (event == PTRACE_EVENT_STOP)
			__atomic_store_n(&watch.is_stopped, false, __ATOMIC_RELEASE);
		(void)go_on(tid, PTRACE_CONT, event ? 0 : signal);
	}
}

/* Waits for the rest of the threads. */
static void gather(void)
{
	bool execs;

	if (!watch.gathers_ns || state() != EXIT_WATCH_GOES)
		return;
	if (!are_others_left(0, &execs))
		set_state(EXIT_WATCH_HELD);
	else if (execs)
		let_go(EXIT_WATCH_EXEC);
	else if (clock_now_ns() - watch.gathers_ns > GATHER_NS)
		let_go(EXIT_WATCH_MISSED);
}

static void nap(void)
{
	const struct timespec time = {.tv_nsec = watch.gathers_ns ? SHORT_NAP_NS : NAP_NS};
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	(void)sigtimedwait(&child, NULL, &time);
}

static void follow(void)
{
	bool has_ended = false;

	while (!has_ended && !__atomic_load_n(&watch.ends, __ATOMIC_ACQUIRE)) {
		int status;
		pid_t tid = 0;

		while (!has_ended && (tid = ptrace_wait_any(&status)) > 0) {
			if (WIFSTOPPED(status))
				on_stop(tid, status >> 16, WSTOPSIG(status) & SIGNAL_MASK);
			else
				has_ended = tid == watch.pid;
		}
		/* none is traced: it was ending when they were to be seized */
		has_ended |= tid < 0 && errno == ECHILD;
		gather();
		if (!has_ended && state() != EXIT_WATCH_HELD)
			nap();
		else if (!has_ended)
			ptrace_nap(PTRACE_NAP_NS);
	}
	if (has_ended && state() == EXIT_WATCH_GOES)
		set_state(EXIT_WATCH_MISSED);
}

static int take_over(void)
{
	int err = watch.take(watch.context);

	if (!err)
		err = ptrace_request(PTRACE_SETOPTIONS, "exit_watch", watch.pid, 0, OPTIONS);
	return err ? err : go_on(watch.pid, PTRACE_CONT, 0);
}

static void *watch_main(void *argument)
{
	(void)argument;
	watch.tracer = gettid();
	const int err = watch.take ? take_over() : seize_all();

	watch.take = NULL;

	__atomic_store_n(&watch.begun, err ? err : 1, __ATOMIC_RELEASE);
	if (!err)
		follow();
	return NULL;
}

/* ---- the session's thread -------------------------------------------------------------------- */

static void block_sigchld(void)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, NULL);
}

static void join(void)
{
	__atomic_store_n(&watch.ends, true, __ATOMIC_RELEASE);
	kill(getpid(), SIGCHLD); /* in a nap */
	pthread_join(watch.thread, NULL);
	/* as in tracee_worker.c: the kernel detaches towards the end of the thread's exit */
	while (!tgkill(getpid(), watch.tracer, 0))
		sched_yield();
	watch.is_running = false;
	for (size_t i = 0; i < watch.count; i++)
		thread_words_close(&watch.held[i]);
	free(watch.held);
	watch.held = NULL;
	watch.count = 0;
	watch.gathers_ns = 0;
}

static int start(void)
{
	sigset_t all, before;

	watch.ends = watch.is_stopped = false;
	watch.begun = 0;
	set_state(EXIT_WATCH_GOES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int err = -pthread_create(&watch.thread, NULL, watch_main, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return err;
	watch.is_running = true;
	while (!(err = __atomic_load_n(&watch.begun, __ATOMIC_ACQUIRE)))
		sched_yield();
	if (err < 0)
		join();
	return err < 0 ? err : 0;
}

int exit_watch_begin(pid_t pid, int (*take)(void *context), void *context)
{
	watch = (struct watch){.pid = pid, .take = take, .context = context};
	block_sigchld();
	const int err = start();
	if (err)
		set_state(EXIT_WATCH_NONE);
	return err;
}

void exit_watch_end(void)
{
	if (watch.is_running)
		join();
	watch.is_suspended = false;
	set_state(EXIT_WATCH_NONE);
}

enum exit_watch_state exit_watch_look(void)
{
	return state();
}

const struct thread_words *exit_watch_threads(size_t *out_count)
{
	*out_count = watch.count;
	return watch.held;
}

bool exit_watch_is_stopped(void)
{
	return watch.is_running && __atomic_load_n(&watch.is_stopped, __ATOMIC_ACQUIRE);
}

void exit_watch_suspend(void)
{
	if (!watch.is_running || state() != EXIT_WATCH_GOES)
		return;
	join();
	watch.is_suspended = true;
}

void exit_watch_resume(void)
{
	if (!watch.is_suspended)
		return;
	watch.is_suspended = false;
	if (start())
		set_state(EXIT_WATCH_MISSED);
}
