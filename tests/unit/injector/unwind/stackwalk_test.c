/* SPDX-License-Identifier: MIT */
/*
 * stackwalk_test.c - stacks of real children: complete where there is proof, and never called
 * complete without it.
 */
#include "stackwalk.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "unit.h"

#define DEPTH 20

static int ready[2];

/* What a child does once it stands where the test wants it. */
static void stand_still(void)
{
	const pid_t tid = (pid_t)syscall(SYS_gettid);

	(void)!write(ready[1], &tid, sizeof(tid));
	while (pause())
		continue;
}

struct child {
	pid_t pid, tid;
	struct memory memory;
	struct maps maps;
	struct elf_images images;
	struct stackwalker *walker;
	struct tracee tracee;
	struct stackwalk walk;
};

static void child_start(struct child *child, void (*run)(void))
{
	CHECK(pipe(ready) == 0);
	child->pid = fork();
	if (child->pid == 0) {
		alarm(UNIT_TIME_LIMIT_S);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
	}
	CHECK_EQ(read(ready[0], &child->tid, sizeof(child->tid)), sizeof(child->tid));
	CHECK_EQ(memory_open(&child->memory, child->pid, child->tid), 0);
	CHECK_EQ(maps_read(child->pid, child->tid, &child->maps), 0);
	CHECK_EQ(elf_images_read(child->pid, &child->maps, &child->memory, &child->images), 0);
	CHECK_EQ(stackwalker_open(child->pid, &child->images, &child->walker), 0);
	stackwalker_learn_ends(child->walker);
}

static void child_walk(struct child *child)
{
	CHECK_EQ(tracee_stop(&child->tracee, child->pid, child->tid, UNIT_PATIENCE_MS), 0);
	CHECK_EQ(stackwalk_read(child->walker, &child->tracee, &child->walk), 0);
	CHECK_EQ(tracee_detach(&child->tracee), 0);
}

static void child_end(struct child *child)
{
	stackwalker_close(child->walker);
	elf_images_close(&child->images);
	maps_close(&child->maps);
	memory_close(&child->memory);
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

/* How often the return address that occurs most occurs. */
static unsigned repeats(const struct stackwalk *walk)
{
	unsigned most = 0;

	for (size_t i = 0; i < walk->count; i++) {
		unsigned same = 0;
		for (size_t k = 0; k < walk->count; k++)
			same += walk->pc[k] == walk->pc[i];
		most = same > most ? same : most;
	}
	return most;
}

static volatile unsigned sink;

static __attribute__((noinline)) void recurse(unsigned depth)
{
	volatile char frame[64];

	frame[depth % 64] = 1;
	if (depth > 1)
		recurse(depth - 1);
	else
		stand_still();
	sink += (unsigned)frame[depth % 64];
}

static void stand_deep(void)
{
	recurse(DEPTH);
}

static void check_deep(const struct stackwalk *walk)
{
	CHECK(walk->is_complete);
	CHECK(!walk->is_cut);
	CHECK_EQ(repeats(walk), DEPTH - 1); /* the innermost calls something else */
	for (size_t i = 1; i + 1 < walk->count; i++)
		CHECK(walk->cfa[i] > walk->cfa[i - 1]);
	CHECK_EQ(walk->cfa[walk->count - 1], 0);
}

UNIT_TEST(main_thread)
{
	struct child child;

	child_start(&child, stand_deep);
	child_walk(&child);
	check_deep(&child.walk);
	child_walk(&child); /* from the cache */
	check_deep(&child.walk);
	child_end(&child);
}

static void *thread_main(void *unused)
{
	(void)unused;
	stand_deep();
	return NULL;
}

static void stand_deep_in_a_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
}

UNIT_TEST(other_thread)
{
	struct child child;

	child_start(&child, stand_deep_in_a_thread);
	child_walk(&child);
	check_deep(&child.walk);
	child_end(&child);
}

/* None of the paths in maps leads anywhere from inside; unwind information comes from memory. */
static void stand_deep_in_another_root(void)
{
	CHECK(chroot("/tmp") == 0 && chdir("/") == 0);
	stand_deep();
}

UNIT_TEST(changed_root)
{
	struct child child;

	if (geteuid() != 0)
		SKIP("needs root");
	child_start(&child, stand_deep_in_another_root);
	child_walk(&child);
	check_deep(&child.walk);
	child_end(&child);
}

static void on_signal(int number)
{
	(void)number;
	stand_still();
}

static void stand_in_a_handler(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
}

UNIT_TEST(signal_handler)
{
	struct child child;
	unsigned signals = 0;

	child_start(&child, stand_in_a_handler);
	child_walk(&child);
	CHECK(child.walk.is_complete);
	CHECK(!child.walk.is_cut);
	for (size_t i = 0; i < child.walk.count; i++)
		signals += child.walk.is_signal[i];
	CHECK_EQ(signals, 1);
	child_end(&child);
}

/*
 * sub rsp, 8; call rdi; add rsp, 8; ret: as a just-in-time compiler makes it, with no unwind
 * information.
 */
static void stand_below_unknown_code(void)
{
	static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7,
					     0x48, 0x83, 0xc4, 0x08, 0xc3};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, code, sizeof(code));
	((void (*)(void (*)(void)))(uintptr_t)page)(stand_still);
}

UNIT_TEST(unknown_code_is_never_complete)
{
	struct child child;

#ifndef __x86_64__
	SKIP("its code is x86-64");
#endif
	child_start(&child, stand_below_unknown_code);
	child_walk(&child);
	CHECK(!child.walk.is_complete);
	CHECK(child.walk.is_cut);
	child_end(&child);
}

static void stand_too_deep(void)
{
	recurse(STACKWALK_FRAMES_MAX + 10);
}

UNIT_TEST(too_deep_is_never_complete)
{
	struct child child;

	child_start(&child, stand_too_deep);
	child_walk(&child);
	CHECK_EQ(child.walk.count, STACKWALK_FRAMES_MAX);
	CHECK(!child.walk.is_complete);
	CHECK(child.walk.is_cut);
	child_end(&child);
}

static void stand_without_a_stack(void)
{
	const pid_t tid = (pid_t)syscall(SYS_gettid);

	(void)!write(ready[1], &tid, sizeof(tid));
	__asm__ volatile("mov $4096, %rsp\n"
			 "mov %rsp, %rbp\n"
			 "1: pause\n"
			 "jmp 1b\n");
}

UNIT_TEST(a_stack_that_cannot_be_read_is_cut)
{
	struct stackwalk_copy copy;
	struct child child;

#ifndef __x86_64__
	SKIP("its code is x86-64");
#endif
	child_start(&child, stand_without_a_stack);
	do { /* it may not be there yet */
		usleep(1000);
		CHECK_EQ(tracee_stop(&child.tracee, child.pid, child.tid, UNIT_PATIENCE_MS), 0);
		CHECK_EQ(stackwalk_read(child.walker, &child.tracee, &child.walk), 0);
		CHECK_EQ(stackwalk_copy(&child.tracee, &copy), 0);
		CHECK_EQ(tracee_detach(&child.tracee), 0);
	} while (arch_sp(&copy.regs) != 4096);
	CHECK_EQ(child.walk.count, 1);
	CHECK(child.walk.is_cut);
	CHECK(!child.walk.is_complete);
	CHECK_EQ(copy.size, 0);
	CHECK_EQ(stackwalk_read_copy(child.walker, child.tid, &copy, &child.walk), -E2BIG);
	child_end(&child);
}

UNIT_MAIN()
