/* SPDX-License-Identifier: MIT */
/*
 * sharer.h - for targets: a process of its own in the memory of this one, by clone with CLONE_VM
 * and without CLONE_THREAD, that may allocate. It gets thread-local storage of its own from the
 * dynamic linker, as pthread_create would give it to a thread. (glibc)
 */
#ifndef SHARER_H
#define SHARER_H

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sharer_tls.h"

#define SHARER_STACK_BYTES (256u << 10)

static inline void *sharer_idle(void *unused)
{
	return unused;
}

/* Else libc takes it that nobody else runs, and that locks are for nothing. */
static inline void sharer_be_threaded(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sharer_idle, NULL) || pthread_join(thread, NULL))
		abort();
}

static inline char *sharer_new_tls(char *at)
{
	void *(*allocate)(void *) =
		(void *(*)(void *))(uintptr_t)dlsym(RTLD_DEFAULT, "_dl_allocate_tls");
	char *tls = allocate ? allocate(at) : NULL;

	if (!tls)
		abort();
	sharer_fill_tls(tls);
	return tls;
}

/* What it needs for as long as it lives: zeroed at first. Another may follow at the same place. */
struct sharer_place {
	char *stack, *tls;
	int (*work)(void *);
	void *argument;
	pid_t parent;
};

static inline int sharer_begin(void *data)
{
	const struct sharer_place *place = data;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return getppid() == place->parent ? place->work(place->argument) : 1;
}

/*
 * Its pid; wait for it with __WALL. It ends when work returns, or when the thread that called this
 * does.
 */
static inline pid_t sharer_start(struct sharer_place *place, int (*work)(void *), void *argument)
{
	if (!place->stack) {
		place->stack = mmap(NULL, SHARER_STACK_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (place->stack == MAP_FAILED)
			abort();
		place->tls = sharer_new_tls(place->stack + SHARER_STACK_BYTES - SHARER_TLS_ABOVE);
	}
	place->work = work;
	place->argument = argument;
	place->parent = getpid();
	return clone(sharer_begin, place->tls - SHARER_TLS_BELOW,
		     CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SETTLS | SIGCHLD, place, NULL,
		     place->tls);
}

#endif
