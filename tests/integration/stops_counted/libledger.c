/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into heapinject: sees each call of ptrace and waitpid, and writes to the file $LEDGER,
 * at the end, how many stops a detach has ended, and between which bounds, in microseconds, the
 * longest and the sum must lie. A stop has begun after the call before the one that still found the
 * thread running, and at the latest when a call found it stopped; it has ended after the call
 * before the detach, and at the latest when that began. Nothing depends on when we get a CPU.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#define THREADS 256

static struct thread {
	pid_t tid;
	/*
	 * it ran at the earliest then; it was seen to be stopped, or 0; the last call about it
	 * returned
	 */
	int64_t ran_ns, stopped_ns, last_ns;
} threads[THREADS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned count;
static int64_t longest_min_ns, longest_max_ns, sum_min_ns, sum_max_ns;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static struct thread *thread_of(pid_t tid)
{
	struct thread *free = NULL;

	for (struct thread *thread = threads; thread < threads + THREADS; thread++) {
		if (thread->tid == tid)
			return thread;
		if (!thread->tid && !free)
			free = thread;
	}
	if (!free)
		abort();
	*free = (struct thread){.tid = tid};
	return free;
}

static void note_detach(struct thread *thread, int64_t begun_ns)
{
	const int64_t min_ns = thread->last_ns - thread->stopped_ns,
		      max_ns = begun_ns - thread->ran_ns;

	count++;
	sum_min_ns += min_ns;
	sum_max_ns += max_ns;
	longest_min_ns = min_ns > longest_min_ns ? min_ns : longest_min_ns;
	longest_max_ns = max_ns > longest_max_ns ? max_ns : longest_max_ns;
}

static void note_request(pid_t tid, int request, int64_t begun_ns)
{
	struct thread *thread = thread_of(tid);

	if (request == PTRACE_SEIZE)
		*thread = (struct thread){.tid = tid, .ran_ns = now_ns()};
	if (request == PTRACE_DETACH && thread->stopped_ns)
		note_detach(thread, begun_ns);
	thread->last_ns = now_ns();
	if (request == PTRACE_DETACH)
		*thread = (struct thread){0};
}

static void note_look(pid_t tid, pid_t got)
{
	struct thread *thread = thread_of(tid);

	if (got == 0 && !thread->stopped_ns && thread->last_ns)
		thread->ran_ns = thread->last_ns;
	thread->last_ns = now_ns();
	if (got == tid && !thread->stopped_ns)
		thread->stopped_ns = thread->last_ns;
}

long ptrace(enum __ptrace_request request, ...)
{
	static long (*original)(int, pid_t, void *, void *);
	const int64_t begun_ns = now_ns();
	va_list arguments;

	va_start(arguments, request);
	const pid_t tid = va_arg(arguments, pid_t);
	void *const address = va_arg(arguments, void *);
	void *const data = va_arg(arguments, void *);
	va_end(arguments);
	if (!original)
		*(void **)&original = dlsym(RTLD_NEXT, "ptrace");
	const long result = original((int)request, tid, address, data);
	pthread_mutex_lock(&lock);
	if (result >= 0)
		note_request(tid, (int)request, begun_ns);
	pthread_mutex_unlock(&lock);
	return result;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	static pid_t (*original)(pid_t, int *, int);

	if (!original)
		*(void **)&original = dlsym(RTLD_NEXT, "waitpid");
	const pid_t got = original(pid, status, options);
	pthread_mutex_lock(&lock);
	if (options & __WALL)
		note_look(pid, got);
	pthread_mutex_unlock(&lock);
	return got;
}

__attribute__((destructor)) static void end(void)
{
	FILE *file = count && getenv("LEDGER") ? fopen(getenv("LEDGER"), "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%u %lld %lld %lld %lld\n", count, (long long)longest_min_ns / 1000,
		(long long)longest_max_ns / 1000, (long long)sum_min_ns / 1000,
		(long long)sum_max_ns / 1000);
	fclose(file);
}
