/* SPDX-License-Identifier: MIT */
/* heap_looks: looks at a child's heap, how often they come, and how they end. */
#include "heap_looks.h"

#include <malloc.h>
#include <sys/prctl.h>

#include "procfs.h"
#include "unit.h"

#define SECOND UINT64_C(1000000000)
#define BLOCKS 3000u
#define BLOCK_BYTES 4000u

/* A child that has so many blocks, and waits. */
static pid_t child_with_blocks(void)
{
	int ends[2];
	char ready;

	CHECK_EQ(pipe(ends), 0);
	const pid_t pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (unsigned i = 0; i < BLOCKS; i++)
			memset(malloc(BLOCK_BYTES), 1, BLOCK_BYTES);
		(void)!write(ends[1], "", 1);
		for (;;)
			pause();
	}
	CHECK_EQ(read(ends[0], &ready, 1), 1);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void open_looks(struct heap_looks *looks, pid_t pid)
{
	uint64_t start_ticks;

	CHECK_EQ(proc_start_time(pid, &start_ticks), 0);
	heap_looks_open(looks, pid, start_ticks);
}

static bool is_looking(const struct heap_looks *looks)
{
	return looks->child && looks->fd >= 0;
}

/* Steps at that time until a look has ended. */
static void finish_look(struct heap_looks *looks, uint64_t now_ns, double share)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (unsigned i = 0; i < UNIT_PATIENCE_MS; i++) {
		if (heap_looks_step(looks, now_ns, share))
			return;
		nanosleep(&pause, NULL);
	}
	CHECK(!"a look ends");
}

UNIT_TEST(the_first_look_comes_at_once)
{
	const pid_t pid = child_with_blocks();
	const uint64_t bytes = (uint64_t)BLOCKS * BLOCK_BYTES;
	struct heap_looks looks;

	open_looks(&looks, pid);
	finish_look(&looks, 5, HEAP_LOOKS_SHARE);
	CHECK(!is_looking(&looks));
	CHECK_EQ(looks.count, 1);
	CHECK_EQ(looks.last_ns, 5);
	if (*looks.last.refusal) {
		end_child(pid);
		SKIP("%s", looks.last.refusal); /* a sanitizer's allocator */
	}
	CHECK(*looks.last.name);
	CHECK(looks.last.used_bytes >= bytes && looks.last.used_bytes < bytes + bytes / 10);
	CHECK(looks.last.used >= bytes && looks.last.used <= looks.last.used_bytes);
	CHECK(looks.last.used_count >= BLOCKS);
	CHECK(looks.last.anonymous >= looks.last.used);
	CHECK(looks.last.cost_ns > 0 && looks.last.cost_ns == looks.total_ns);
	end_child(pid);
}

/* The dearer looks are, the longer until the next one. */
UNIT_TEST(looks_keep_to_their_share)
{
	const pid_t pid = child_with_blocks();
	struct heap_looks looks;

	open_looks(&looks, pid);
	finish_look(&looks, SECOND, 1000);
	CHECK_EQ(looks.every_ns, HEAP_LOOKS_EVERY_NS);
	CHECK(!heap_looks_step(&looks, SECOND + HEAP_LOOKS_EVERY_NS - 1, 1));
	CHECK(!is_looking(&looks));
	const double share = (double)looks.last.cost_ns / 1e13;
	finish_look(&looks, SECOND + HEAP_LOOKS_EVERY_NS, share);
	CHECK_EQ(looks.count, 2);
	CHECK(looks.every_ns > 1000 * SECOND && looks.every_ns < 1000000 * SECOND);
	CHECK(!heap_looks_step(&looks, 1000 * SECOND, 1));
	CHECK(!is_looking(&looks));
	heap_looks_begin_anew(&looks);
	CHECK_EQ(looks.child, 0);
	CHECK(!heap_looks_step(&looks, 1000 * SECOND, 1));
	CHECK(is_looking(&looks));
	heap_looks_close(&looks);
	end_child(pid);
}

UNIT_TEST(the_last_look)
{
	const pid_t pid = child_with_blocks();
	struct heap_looks looks;

	open_looks(&looks, pid);
	finish_look(&looks, SECOND, 1);
	heap_looks_begin_last(&looks, SECOND + 1); /* there was one right now */
	CHECK(!is_looking(&looks));
	CHECK(!heap_looks_wait(&looks));
	/* as if it had been cheap, which it is not with a sanitizer */
	looks.last.cost_ns = looks.total_ns = 0;
	heap_looks_begin_last(&looks, 10 * SECOND);
	CHECK(is_looking(&looks));
	/* with patience, as the machine may be busy */
	for (unsigned i = 0; i < 15 && !heap_looks_wait(&looks); i++)
		heap_looks_begin_last(&looks, 10 * SECOND);
	CHECK_EQ(looks.last_ns, 10 * SECOND);
	CHECK(!is_looking(&looks));
	/* neither cheap, nor paid for by so short a session */
	looks.last.cost_ns = SECOND;
	heap_looks_begin_last(&looks, 20 * SECOND);
	CHECK(!is_looking(&looks));
	heap_looks_begin_last(&looks, 100 * SECOND);
	CHECK(is_looking(&looks));
	heap_looks_close(&looks);
	CHECK_EQ(looks.child, 0);
	CHECK(waitpid(-1, NULL, WNOHANG) == 0); /* there is the process alone */
	end_child(pid);
}

/* Its number may be another process's now. */
UNIT_TEST(another_process_is_not_looked_at)
{
	const pid_t pid = child_with_blocks();
	struct heap_looks looks;

	open_looks(&looks, pid);
	looks.start_ticks++;
	finish_look(&looks, SECOND, 1);
	CHECK(strstr(looks.last.refusal, "the process has ended"));
	CHECK_EQ(looks.last.used, 0);
	end_child(pid);
	finish_look(&looks, 10 * SECOND, 1);
	CHECK(strstr(looks.last.refusal, "it cannot be read"));
}

UNIT_TEST(without_a_process_nothing_is_done)
{
	struct heap_looks looks = {0};

	CHECK(!heap_looks_step(&looks, SECOND, 1));
	heap_looks_begin_last(&looks, 10 * SECOND);
	CHECK(!heap_looks_wait(&looks));
	heap_looks_begin_anew(&looks);
	CHECK(!heap_looks_step(&looks, SECOND, 1));
	CHECK(!is_looking(&looks));
	heap_looks_close(&looks);
}

UNIT_MAIN()
