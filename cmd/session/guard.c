/* SPDX-License-Identifier: MIT */
/*
 * guard.c - see guard.h. One process is guard_one(); a cgroup or a unit is guard_all(), which has a
 * child guard one process after the other, as there is one session per process.
 */
#include "guard.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup_find.h"
#include "clock.h"
#include "guard_place.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "procfs.h"

#define PPM 1e6
/* while it waits for --from: how often it looks, far from it and near */
#define FAR_MS 200
#define NEAR_MS 10
/* while it waits for a process */
#define CHOOSE_MS 250
/* half a megabyte is used at once, the rest as sampling needs it */
#define ROOM_BYTES (4u << 20)
/* a process that begins cannot be attached to, for example as it executes its program yet */
#define REFUSALS_MAX 10u

/* ---- one process ----------------------------------------------------------------------------- */

static bool is_same(pid_t pid, uint64_t start_time)
{
	uint64_t now;

	return proc_has_memory(pid, 0) && !proc_start_time(pid, &now) && now == start_time;
}

/* Waits until so much of the limit is in use. False: the process has ended before. */
static bool await_share(struct memory_watch *watch, pid_t pid, uint32_t ppm)
{
	struct memory_figures figures;
	uint64_t start_time;

	if (proc_start_time(pid, &start_time))
		return false;
	for (;;) {
		memory_watch_read(watch, 0, clock_now_ns(), &figures);
		const double from = ppm / PPM * (double)figures.limit;

		if (figures.limit && (double)figures.used >= from)
			return true;
		if (!is_same(pid, start_time))
			return false;
		struct pollfd wait = {watch->threshold_fd, POLLIN, 0};
		memory_watch_arm(watch, (uint64_t)from);
		(void)poll(&wait, 1, (double)figures.used * 2 >= from ? NEAR_MS : FAR_MS);
		if (wait.revents)
			(void)memory_watch_woken(watch, 0, wait.revents);
	}
}

/* Waits for --from. Returns HI_EXIT_OK if it is time to attach. */
static int await_from(struct memory_watch *watch, const struct guard_options *guard,
		      const struct session_options *options)
{
	char what[PATH_MAX];

	if (!options->quiet)
		fprintf(stderr, "heapinject: waits until process %d uses %g%% of its limit (%s)\n",
			(int)options->pid, guard->from_ppm / 1e4,
			memory_watch_describe(watch, what));
	if (await_share(watch, options->pid, guard->from_ppm))
		return HI_EXIT_OK;
	fprintf(stderr, "heapinject: process %d %s before it used %g%% of its limit\n",
		(int)options->pid,
		memory_watch_kills(watch) ? "was killed by the OOM killer" : "has ended",
		guard->from_ppm / 1e4);
	return HI_EXIT_FAILED;
}

/* Whether what attach maps into the process may be what it is killed for. */
static bool has_room(struct memory_watch *watch, pid_t pid)
{
	struct memory_figures figures;
	char left[HI_UNITS_TEXT_MAX];

	memory_watch_read(watch, 0, clock_now_ns(), &figures);
	if (watch->is_machine || !figures.limit || figures.used + ROOM_BYTES <= figures.limit)
		return true;
	fprintf(stderr,
		"heapinject: not attached to process %d: only %s are left to its memory limit, and "
		"what heapinject maps counts, too; raise the limit, or begin earlier\n",
		(int)pid,
		hi_format_bytes(
			figures.limit > figures.used ? (double)(figures.limit - figures.used) : 0,
			left, sizeof(left)));
	return false;
}

static int guard_one(const struct guard_options *guard, struct session_options *options)
{
	static struct memory_watch watch; /* large */
	int exit_code = HI_EXIT_OK;

	/* what is wrong with the process, attach says best */
	if (memory_watch_open(options->pid, 0, &watch))
		return session_attach(options);
	options->holds_memory = guard_place_settle(&watch, options->verbose);
	if (guard->from_ppm)
		exit_code = await_from(&watch, guard, options);
	if (exit_code == HI_EXIT_OK && !has_room(&watch, options->pid)) {
		memory_watch_close(&watch);
		return HI_EXIT_REFUSED;
	}
	memory_watch_close(&watch);
	if (exit_code == HI_EXIT_OK)
		return session_attach(options);
	if (options->outcome)
		options->outcome->may_come = true;
	return exit_code;
}

/* ---- one after the other --------------------------------------------------------------------- */

static volatile sig_atomic_t stopped; /* the signal that ends the guard; 0 = none */
static volatile sig_atomic_t child;   /* that has the session; 0 = none */

/* A signal from the terminal reaches the child by itself, and once is enough. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	stopped = number;
	if (child && info->si_code <= 0)
		kill((pid_t)child, number);
}

static void handle_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct sigaction before;

		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

static int find(const struct guard_options *guard, char path[PATH_MAX])
{
	return guard->unit ? cgroup_find_unit(MEMORY_LIMIT_CGROUPS, guard->unit, path)
			   : cgroup_find(MEMORY_LIMIT_CGROUPS, guard->cgroup, path);
}

static void say_that_it_waits(const struct guard_options *guard)
{
	fprintf(stderr, "heapinject: waits for a process of %s\n",
		guard->unit ? guard->unit : guard->cgroup);
}

/* Waits for a process. -ENOENT: there is no such cgroup, -EINTR: the guard is to end. */
static int await_choice(const struct guard_options *guard, bool quiet,
			struct process_found *out_choice, unsigned *out_others)
{
	const struct timespec pause = {.tv_nsec = CHOOSE_MS * 1000000};
	static char path[PATH_MAX];

	for (bool has_said = quiet; !stopped; has_said = true) {
		const int err = find(guard, path);

		if (err && (err != -ENOENT || !guard->unit))
			return err;
		if (!err && !cgroup_largest(path, out_choice, out_others))
			return 0;
		if (!has_said)
			say_that_it_waits(guard);
		nanosleep(&pause, NULL);
	}
	return -EINTR;
}

static void say_choice(const struct guard_options *guard, const struct process_found *choice,
		       unsigned other_count)
{
	char resident[HI_UNITS_TEXT_MAX], others[64] = "";

	if (other_count)
		snprintf(others, sizeof(others), ", the most of its %u processes", other_count + 1);
	fprintf(stderr, "heapinject: of %s: process %d (%s), which has %s of resident memory%s\n",
		guard->unit ? guard->unit : guard->cgroup, (int)choice->pid, choice->comm,
		hi_format_bytes((double)choice->resident_bytes, resident, sizeof(resident)),
		others);
}

/* The guard of one process as a child; returns its exit code. */
static int run_child(const struct guard_options *guard, struct session_options *options)
{
	int status = 0;
	sigset_t all, before;

	fflush(NULL);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	const pid_t pid = fork();

	if (!pid) {
		static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
			struct sigaction action;

			if (!sigaction(numbers[i], NULL, &action) && action.sa_handler != SIG_IGN)
				signal(numbers[i], SIG_DFL);
		}
		(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
		sigprocmask(SIG_SETMASK, &before, NULL);
		const int exit_code = guard_one(guard, options);
		fflush(NULL);
		_exit(exit_code);
	}
	child = pid > 0 ? pid : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0) {
		fprintf(stderr, "heapinject: cannot begin a session: %s\n", strerror(errno));
		return HI_EXIT_FAILED;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : HI_EXIT_FAILED;
}

static int guard_all(const struct guard_options *guard, struct session_options *options)
{
	const struct timespec pause = {.tv_sec = 1};
	struct process_found choice, last = {0};
	unsigned refusals = 0, others = 0;
	int exit_code = HI_EXIT_FAILED;

	options->outcome = mmap(NULL, sizeof(*options->outcome), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (options->outcome == MAP_FAILED)
		return HI_EXIT_FAILED;
	handle_signals();
	for (;;) {
		const int err = await_choice(guard, options->quiet, &choice, &others);

		if (err == -EINTR)
			return exit_code;
		if (err) { /* it may have gone with its last process */
			if (!last.pid)
				fprintf(stderr, "heapinject: no cgroup %s: %s\n",
					guard->unit ? guard->unit : guard->cgroup, strerror(-err));
			return exit_code;
		}
		const bool is_new =
			choice.pid != last.pid || choice.start_ticks != last.start_ticks;
		if (is_new && !options->quiet)
			say_choice(guard, &choice, others);
		refusals = is_new ? 0 : refusals;
		last = choice;
		options->pid = choice.pid;
		*options->outcome = (struct session_outcome){0};
		exit_code = run_child(guard, options);
		if (stopped || (options->outcome->is_over && !options->outcome->may_come))
			return exit_code;
		if (options->outcome->may_come)
			continue;
		if (++refusals == REFUSALS_MAX)
			return exit_code;
		nanosleep(&pause, NULL);
	}
}

int guard_run(const struct guard_options *guard, struct session_options *options)
{
	return guard->cgroup || guard->unit ? guard_all(guard, options) : guard_one(guard, options);
}
