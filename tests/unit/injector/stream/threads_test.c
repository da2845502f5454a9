/* SPDX-License-Identifier: MIT */
/*
 * threads: numbers that never change, and tids and names that are only believed where /proc bears
 * them out. The threads are this process's own.
 */
#include "threads.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "own_images.h"

struct worker {
	pthread_t thread;
	sem_t started, stop;
	pid_t tid;
};

static void *work(void *context)
{
	struct worker *worker = context;
	worker->tid = (pid_t)syscall(SYS_gettid);
	pthread_setname_np(pthread_self(), "io-worker");
	sem_post(&worker->started);
	sem_wait(&worker->stop);
	return NULL;
}

static uint32_t number_of(struct threads *threads, const struct memory *memory, uint64_t pointer,
			  bool expect_new)
{
	const struct thread *thread;
	bool is_new;
	CHECK_EQ(threads_get(threads, memory, pointer, &thread, &is_new), 0);
	CHECK_EQ(is_new, expect_new);
	return thread->number;
}

UNIT_TEST(finds_tid_and_name_behind_a_thread_pointer)
{
	struct own own = own_open();
	struct threads threads;
	struct worker worker = {.tid = 0};
	const struct thread *thread;
	bool is_new;
	sem_init(&worker.started, 0, 0);
	sem_init(&worker.stop, 0, 0);
	CHECK_EQ(pthread_create(&worker.thread, NULL, work, &worker), 0);
	sem_wait(&worker.started);
	CHECK_EQ(threads_open(&threads, getpid(), &own.images, &own.memory), 0);
	CHECK(threads.tid_offset > 0);

	CHECK_EQ(threads_get(&threads, &own.memory, (uint64_t)worker.thread, &thread, &is_new), 0);
	CHECK(is_new);
	CHECK_EQ(thread->tid, worker.tid);
	CHECK_STR(thread->name, "io-worker");
	CHECK_EQ(thread->number, 1);
	CHECK_EQ(threads_get(&threads, &own.memory, (uint64_t)pthread_self(), &thread, &is_new), 0);
	CHECK_EQ(thread->tid, getpid());
	CHECK_EQ(thread->number, 2);

	sem_post(&worker.stop);
	pthread_join(worker.thread, NULL);
	threads_close(&threads);
	own_close(&own);
}

/* Threads often allocate before they name themselves. */
UNIT_TEST(a_name_that_was_set_late_is_noticed_once)
{
	struct own own = own_open();
	struct threads threads;
	const struct thread *thread;
	bool is_new;
	char before[16];
	CHECK_EQ(pthread_getname_np(pthread_self(), before, sizeof(before)), 0);
	CHECK_EQ(threads_open(&threads, getpid(), &own.images, &own.memory), 0);
	CHECK_EQ(threads_get(&threads, &own.memory, (uint64_t)pthread_self(), &thread, &is_new), 0);
	CHECK_STR(thread->name, before);
	for (int i = 0; i < 3; i++)
		CHECK(!threads_renamed(&threads, &own.memory));
	CHECK_EQ(pthread_setname_np(pthread_self(), "late"), 0);
	const struct thread *renamed = threads_renamed(&threads, &own.memory);
	CHECK(renamed && renamed->number == 1);
	CHECK_STR(renamed->name, "late");
	for (int i = 0; i < 3; i++)
		CHECK(!threads_renamed(&threads, &own.memory));
	CHECK_EQ(pthread_setname_np(pthread_self(), before), 0);
	CHECK(threads_renamed(&threads, &own.memory)); /* and then again */
	threads_close(&threads);
	own_close(&own);
}

/* Starts a thread whose control block lies where the last one's lay. */
static void start_on(struct worker *worker, void *stack, size_t size)
{
	pthread_attr_t attributes;
	sem_init(&worker->started, 0, 0);
	sem_init(&worker->stop, 0, 0);
	CHECK_EQ(pthread_attr_init(&attributes), 0);
	CHECK_EQ(pthread_attr_setstack(&attributes, stack, size), 0);
	CHECK_EQ(pthread_create(&worker->thread, &attributes, work, worker), 0);
	sem_wait(&worker->started);
}

UNIT_TEST(a_thread_that_took_another_ones_place_is_told_apart)
{
	const size_t size = 1 << 18;
	void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct own own = own_open();
	struct threads threads;
	struct worker worker[2] = {{.tid = 0}};
	const struct thread *thread;
	bool is_new;
	CHECK_EQ(threads_open(&threads, getpid(), &own.images, &own.memory), 0);
	start_on(&worker[0], stack, size);
	const uint64_t pointer = (uint64_t)worker[0].thread;
	CHECK_EQ(number_of(&threads, &own.memory, pointer, true), 1);
	CHECK(!threads_renamed(&threads, &own.memory));
	sem_post(&worker[0].stop);
	pthread_join(worker[0].thread, NULL);
	CHECK(!threads_renamed(&threads, &own.memory)); /* nobody is there */
	CHECK_EQ(number_of(&threads, &own.memory, pointer, false), 1);

	start_on(&worker[1], stack, size);
	CHECK_EQ((uint64_t)worker[1].thread, pointer);
	thread = threads_renamed(&threads, &own.memory);
	CHECK(thread && thread->number == 2 && thread->tid == worker[1].tid);
	CHECK_STR(thread->name, "io-worker");
	CHECK(!threads_renamed(&threads, &own.memory));
	CHECK_EQ(threads_get(&threads, &own.memory, pointer, &thread, &is_new), 0);
	CHECK(!is_new && thread->number == 2);
	CHECK_EQ(number_of(&threads, &own.memory, pointer + 64, true), 3);
	sem_post(&worker[1].stop);
	pthread_join(worker[1].thread, NULL);
	threads_close(&threads);
	own_close(&own);
	munmap(stack, size);
}

UNIT_TEST(numbers_are_dense_and_stay)
{
	struct own own = own_open();
	struct threads threads;
	CHECK_EQ(threads_open(&threads, getpid(), &own.images, &own.memory), 0);
	/* stacks are 8 MB apart; the table grows several times */
	for (uint64_t i = 1; i <= 3000; i++)
		CHECK_EQ(number_of(&threads, &own.memory, i << 23, true), i);
	for (uint64_t i = 3000; i >= 1; i--)
		CHECK_EQ(number_of(&threads, &own.memory, i << 23, false), i);
	threads_close(&threads);
	own_close(&own);
}

UNIT_TEST(pointers_of_nobody_are_numbered_and_nameless)
{
	struct own own = own_open();
	struct threads threads;
	const struct thread *thread;
	bool is_new;
	const uint64_t pointers[] = {0, 8, UINT64_MAX, UINT64_MAX - 4096, 1ull << 63};
	CHECK_EQ(threads_open(&threads, getpid(), &own.images, &own.memory), 0);
	for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
		CHECK_EQ(threads_get(&threads, &own.memory, pointers[i], &thread, &is_new), 0);
		CHECK_EQ(thread->number, i + 1);
		CHECK_EQ(thread->tid, 0);
		CHECK_EQ(thread->name[0], 0);
	}
	CHECK_EQ(number_of(&threads, &own.memory, 0, false), 1);
	threads_close(&threads);
	own_close(&own);
}

/*
 * The word at the tid's place is the target's: what it says is only believed of a task of that
 * process.
 */
UNIT_TEST(a_tid_that_is_no_task_of_the_target_is_not_believed)
{
	struct own own = own_open();
	struct threads threads;
	const struct thread *thread;
	bool is_new;
	CHECK_EQ(threads_open(&threads, getpid(), &own.images, &own.memory), 0);
	uint8_t *fake =
		mmap(NULL, 1 << 17, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(fake != MAP_FAILED);
	const int32_t claims[] = {0, -1, 1, getppid(), INT32_MAX};
	for (size_t i = 0; i < sizeof(claims) / sizeof(*claims); i++) {
		memcpy(fake + i * 64 + threads.tid_offset, &claims[i], sizeof(claims[i]));
		CHECK_EQ(threads_get(&threads, &own.memory, address_of(fake + i * 64), &thread,
				     &is_new),
			 0);
		CHECK_EQ(thread->tid, 0);
	}
	threads_close(&threads);
	own_close(&own);
}

UNIT_TEST(without_the_thread_library_threads_are_nameless)
{
	struct own own = own_open();
	struct threads threads;
	const struct thread *thread;
	bool is_new;
	const struct elf_images none = {0};
	CHECK_EQ(threads_open(&threads, getpid(), &none, &own.memory), 0);
	CHECK_EQ(threads.tid_offset, -1);
	CHECK_EQ(threads_get(&threads, &own.memory, (uint64_t)pthread_self(), &thread, &is_new), 0);
	CHECK_EQ(thread->number, 1);
	CHECK_EQ(thread->tid, 0);
	threads_close(&threads);
	own_close(&own);
}

/*
 * A ring that was scribbled over names threads without end, and such that every hash is the same.
 */
UNIT_TEST(more_than_any_process_has_share_a_number)
{
	enum { MOST = 1 << 18 };
	struct threads threads;
	struct own own = own_open();
	CHECK_EQ(threads_open(&threads, getpid(), &own.images, &own.memory), 0);
	threads.tid_offset = -1; /* quicker, and nobody is there */
	for (uint64_t i = 1; i <= MOST; i++)
		CHECK_EQ(number_of(&threads, &own.memory, i << 12, true), i);
	CHECK_EQ(number_of(&threads, &own.memory, (MOST + 1ull) << 12, false), 0);
	CHECK_EQ(number_of(&threads, &own.memory, 7 << 12, false), 7);
	threads_close(&threads);
	own_close(&own);
}

UNIT_TEST(pointers_made_to_collide_do_not_stop_us)
{
	struct own own = own_open();
	const struct elf_images none = {0};
	struct threads threads;
	CHECK_EQ(threads_open(&threads, getpid(), &none, &own.memory), 0);
	for (uint64_t i = 1; i <= 200000; i++)
		CHECK_EQ(number_of(&threads, &own.memory, i << 44, true), i);
	threads_close(&threads);
	own_close(&own);
}

UNIT_MAIN()
