/* SPDX-License-Identifier: MIT */
/*
 * safepoint_test.c - threads that stand in safe and in unsafe places must be told apart, and in the
 * worst of storms a safe moment must be found.
 *
 * What a found moment is good for is shown by loader_dlopen_test.c.
 */
#include "safepoint.h"

#include <errno.h>
#include <link.h>

#include "storm.h"

struct target {
	pid_t pid;
	struct memory memory;
	struct maps maps;
	struct elf_images images;
};

static void target_open(struct target *target, pid_t pid)
{
	target->pid = pid;
	CHECK_EQ(memory_open(&target->memory, pid, pid), 0);
	CHECK_EQ(maps_read(pid, pid, &target->maps), 0);
	CHECK_EQ(elf_images_read(pid, &target->maps, &target->memory, &target->images), 0);
}

static void target_close(struct target *target)
{
	elf_images_close(&target->images);
	maps_close(&target->maps);
	memory_close(&target->memory);
}

static int find(const struct target *target, int deadline_ms, struct tracee *out_tracee)
{
	return safepoint_find(target->pid, &target->images, &target->memory, deadline_ms,
			      out_tracee);
}

/* ---- standing in one place ------------------------------------------------------------------- */

static volatile uint64_t *arrived;

static void stand_still(void)
{
	*arrived = 10;
	while (pause())
		continue;
}

static void stand(volatile uint64_t *rounds, void (*where)(void))
{
	arrived = rounds;
	where();
}

/* What the main thread of a child that stands there is judged to be. */
static enum safepoint_verdict verdict_of(void (*run)(volatile uint64_t *rounds))
{
	const struct storm storm = storm_start(run);
	struct target target;
	struct safepoint_rules *rules;
	struct stackwalker *walker;
	struct stackwalk walk;
	struct tracee tracee;

	struct proc_syscall call = {.running = true};
	/* from the mark to the system call */
	WAIT_FOR(proc_syscall_read(storm.pid, storm.pid, &call) == 0 && !call.running &&
		 call.number >= 0);
	target_open(&target, storm.pid);
	CHECK_EQ(safepoint_rules_open(&target.images, &target.memory, &rules), 0);
	CHECK_EQ(stackwalker_open(storm.pid, &target.images, &walker), 0);
	stackwalker_learn_ends(walker);
	CHECK_EQ(tracee_stop(&tracee, storm.pid, storm.pid, UNIT_PATIENCE_MS), 0);
	CHECK_EQ(stackwalk_read(walker, &tracee, &walk), 0);
	const enum safepoint_verdict verdict = safepoint_judge(rules, &walk);
	CHECK_EQ(tracee_detach(&tracee), 0);
	stackwalker_close(walker);
	safepoint_rules_close(rules);
	target_close(&target);
	kill(storm.pid, SIGKILL);
	waitpid(storm.pid, NULL, 0);
	return verdict;
}

static void in_plain_code(volatile uint64_t *rounds)
{
	stand(rounds, stand_still);
}

UNIT_TEST(plain_code_is_safe)
{
	CHECK_EQ(verdict_of(in_plain_code), SAFEPOINT_SAFE);
}

static int compare(const void *left, const void *right)
{
	(void)left, (void)right;
	stand_still();
	return 0;
}

static void in_a_callback_of_libc(volatile uint64_t *rounds)
{
	int numbers[2] = {2, 1};

	arrived = rounds;
	qsort(numbers, 2, sizeof(numbers[0]), compare);
}

UNIT_TEST(callback_of_harmless_code_is_safe)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer, an allocator, has put itself between");
#endif
	CHECK_EQ(verdict_of(in_a_callback_of_libc), SAFEPOINT_SAFE);
}

static int on_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info, (void)size, (void)unused;
	stand_still();
	return 1;
}

static void in_dl_iterate_phdr(volatile uint64_t *rounds)
{
	arrived = rounds;
	dl_iterate_phdr(on_object, NULL);
}

UNIT_TEST(dl_iterate_phdr_is_unsafe)
{
	CHECK_EQ(verdict_of(in_dl_iterate_phdr), SAFEPOINT_UNSAFE_FRAME);
}

static void in_an_exit_handler(volatile uint64_t *rounds)
{
	arrived = rounds;
	atexit(stand_still);
	exit(0);
}

UNIT_TEST(exit_is_unsafe)
{
	CHECK_EQ(verdict_of(in_an_exit_handler), SAFEPOINT_UNSAFE_FRAME);
}

static void in_a_fork_handler(volatile uint64_t *rounds)
{
	arrived = rounds;
	pthread_atfork(stand_still, NULL, NULL);
	(void)!fork();
}

UNIT_TEST(fork_is_unsafe)
{
	CHECK_EQ(verdict_of(in_a_fork_handler), SAFEPOINT_UNSAFE_FRAME);
}

static void on_signal(int number)
{
	(void)number;
	stand_still();
}

/* It may have interrupted anything, and the thread's own locks are its own to deadlock on. */
static void in_a_signal_handler(volatile uint64_t *rounds)
{
	arrived = rounds;
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
}

UNIT_TEST(signal_handler_is_unsafe)
{
	CHECK_EQ(verdict_of(in_a_signal_handler), SAFEPOINT_UNSAFE_FRAME);
}

/* ---- finding a moment ------------------------------------------------------------------------ */

#define FINDS 40

/* Looks FINDS times; how often a safe moment was found. */
static int find_in(void (*run)(volatile uint64_t *rounds), int deadline_ms)
{
	const struct storm storm = storm_start(run);
	struct target target;
	int found = 0;

	target_open(&target, storm.pid);
	for (int i = 0; i < FINDS; i++) {
		struct tracee tracee;
		const int err = find(&target, deadline_ms, &tracee);
		CHECK(err == 0 || err == -EAGAIN);
		if (err)
			continue;
		CHECK_EQ(tracee.state, TRACEE_STOPPED);
		CHECK_EQ(tracee_detach(&tracee), 0);
		found++;
	}
	target_close(&target);
	storm_end(&storm);
	printf("# %s: %d of %d\n", unit_current, found, FINDS);
	return found;
}

UNIT_TEST(found_in_a_malloc_storm)
{
	CHECK(find_in(storm_malloc, 2000) > 0);
}

UNIT_TEST(found_in_an_aligned_alloc_storm)
{
	CHECK(find_in(storm_aligned_alloc, 2000) > 0);
}

/*
 * Nearly always in malloc, or waiting for the other there; in the dynamic linker but for one
 * instruction: found or not, they are let go.
 */
UNIT_TEST(given_up_in_a_malloc_storm_of_two_threads)
{
	find_in(storm_malloc_two_threads, 200);
}

UNIT_SLOW_TEST(given_up_in_a_dlopen_storm)
{
	find_in(storm_dlopen, 200);
}

static int allocate_for_ever(struct dl_phdr_info *info, size_t size, void *rounds)
{
	(void)info, (void)size;
	storm_malloc(rounds);
	return 1;
}

static void allocate_in_dl_iterate_phdr(volatile uint64_t *rounds)
{
	dl_iterate_phdr(allocate_for_ever, (void *)(uintptr_t)rounds);
}

UNIT_TEST(gives_up_in_time_and_lets_go)
{
	const struct storm storm = storm_start(allocate_in_dl_iterate_phdr);
	struct proc_status status;
	struct target target;
	struct tracee tracee;

	target_open(&target, storm.pid);
	const uint64_t begin = unit_now_ms();
	CHECK_EQ(find(&target, 300, &tracee), -EAGAIN);
	CHECK(unit_now_ms() - begin < UNIT_PATIENCE_MS);
	CHECK_EQ(proc_status_read(storm.pid, storm.pid, &status), 0);
	CHECK_EQ(status.tracer, 0);
	target_close(&target);
	storm_end(&storm);
}

UNIT_TEST(says_when_the_target_is_gone)
{
	const struct storm storm = storm_start(storm_malloc);
	struct target target;
	struct tracee tracee;

	target_open(&target, storm.pid);
	kill(storm.pid, SIGKILL);
	waitpid(storm.pid, NULL, 0);
	CHECK_EQ(find(&target, 1000, &tracee), -ESRCH);
	target_close(&target);
}

UNIT_MAIN()
