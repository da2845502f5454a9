/* SPDX-License-Identifier: MIT */
/*
 * victim.h - a child process to be stopped, borrowed and watched by tests of tracee and remote.
 *
 * The child runs one function and speaks through a shared page: how far it has come, and how often
 * it found itself damaged. It dies with its parent.
 */
#ifndef HI_VICTIM_H
#define HI_VICTIM_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "canary.h"
#include "procfs.h"
#include "remote.h"
#include "snapshot.h"
#include "unit.h"

struct victim_page {
	_Atomic uint64_t progress;    /* grows while the victim works */
	_Atomic uint64_t damage;      /* what it noticed that should not have been; 0 */
	_Atomic uint64_t interrupted; /* system calls that failed with EINTR */
	_Atomic uint64_t handled;     /* signal handlers run */
	_Atomic uint64_t ready;
	_Atomic uint64_t done;
	_Atomic uint64_t asked;    /* what the test wants done next, one more each time */
	_Atomic uint64_t answered; /* what of it is done */
	_Atomic uint64_t word[8];  /* what the two tell each other */
};

struct victim {
	pid_t pid;
	struct victim_page *page;
	struct maps maps;
	struct memory memory;
	struct remote_gadgets gadgets;
};

/* Code that takes a system call's number from the stack: arch_sigreturn.load. */
void victim_load(void);
__asm__(".pushsection .text\n"
	".weak victim_load\n"
	".type victim_load, @function\n"
	"victim_load: " CANARY_LOAD "\n"
	".popsection");

/* The victims are taken for programs that have no code which makes rt_sigreturn. */
static bool victims_handle_no_signal;

static inline void victim_pause_us(long us)
{
	struct timespec pause = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

	nanosleep(&pause, NULL);
}

/* Starts work(page) in a child; returns when it has set page->ready. */
static inline void victim_start(struct victim *victim, void (*work)(struct victim_page *page))
{
	*victim = (struct victim){0};
	victim->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(victim->page != MAP_FAILED);
	fflush(NULL);
	victim->pid = fork();
	if (victim->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(0);
		work(victim->page);
		_exit(0);
	}
	CHECK(victim->pid > 0);
	WAIT_FOR(victim->page->ready);
	CHECK_EQ(memory_open(&victim->memory, victim->pid, victim->pid), 0);
	CHECK_EQ(maps_read(victim->pid, victim->pid, &victim->maps), 0);
	CHECK_EQ(remote_gadgets_find(&victim->maps, &victim->memory, &victim->gadgets), 0);
	CHECK(!victim->gadgets.sigreturn.load);
	if (victims_handle_no_signal)
		victim->gadgets.sigreturn = (struct arch_sigreturn){
			.code = victim->gadgets.syscall_ret, .load = (uintptr_t)victim_load};
}

static inline void victim_check_alive(const struct victim *victim)
{
	int status;

	if (waitpid(victim->pid, &status, WNOHANG) != 0)
		UNIT_FAIL("the victim died: wait status 0x%x", status);
}

/* Alive, and going on? Waits for a sign of it. */
static inline void victim_check(const struct victim *victim)
{
	uint64_t before = victim->page->progress;

	WAIT_FOR(victim_check_alive(victim), victim->page->progress != before);
	victim_check_alive(victim);
	CHECK_EQ(victim->page->damage, 0);
}

/* Has the victim do its next thing, and waits until that is done. */
static inline void victim_ask(const struct victim *victim, uint64_t what)
{
	victim->page->asked = what;
	WAIT_FOR(victim_check_alive(victim), victim->page->answered == what);
}

/* As in /proc/PID/status: R, S, T, Z, ... */
static inline char victim_state(const struct victim *victim)
{
	struct proc_status status;

	CHECK_EQ(proc_status_read(victim->pid, victim->pid, &status), 0);
	return status.state;
}

/*
 * Run by the child, which is ready once it cannot be stopped: until a moment after it is asked to
 * go on.
 */
static inline void victim_stand_in_vfork(struct victim_page *page)
{
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		page->ready = 1;
		while (!page->asked)
			victim_pause_us(1000);
		victim_pause_us(100000); /* by then somebody waits for it */
		_exit(0);
	}
}

static struct victim_page *victim_handler_page;

static inline void victim_handler(int signal)
{
	(void)signal;
	victim_handler_page->handled++;
}

/* Run by the child: calls that nothing ends but a handler, which that of SIGUSR1 is. */
static inline void victim_wait_for_handler(struct victim_page *page)
{
	victim_handler_page = page;
	signal(SIGUSR1, victim_handler);
	page->ready = 1;
	for (;;)
		if (poll(NULL, 0, 1000000) < 0 && errno == EINTR)
			page->interrupted++;
}

/* Lines of its maps that carry our memfd's name. */
static inline size_t victim_own_mappings(const struct victim *victim)
{
	struct snapshot_left left;

	CHECK_EQ(snapshot_left(victim->pid, victim->pid, 0, 0, &left), 0);
	return left.of_session + left.earlier;
}

/* What we hold of a victim that is gone already. */
static inline void victim_forget(struct victim *victim)
{
	maps_close(&victim->maps);
	memory_close(&victim->memory);
	munmap(victim->page, 4096);
}

/* The case may have ended it already: then its pid may be another's by now. */
static inline void victim_end(struct victim *victim)
{
	if (waitpid(victim->pid, NULL, WNOHANG) == 0) {
		kill(victim->pid, SIGKILL);
		waitpid(victim->pid, NULL, 0);
	}
	victim_forget(victim);
}

#endif
