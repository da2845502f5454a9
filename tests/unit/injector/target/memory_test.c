/* SPDX-License-Identifier: MIT */
/*
 * memory_test.c - the target's memory: own process, and children that end, exec, or lose their
 * leader.
 */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "unit.h"
#include "zombie_leader.h"

#define PAGE 4096u

static struct memory open_self(void)
{
	struct memory memory;

	CHECK_EQ(memory_open(&memory, getpid(), getpid()), 0);
	return memory;
}

/* Two pages with a hole behind them. */
static char *map_two_pages(void)
{
	char *pages =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	CHECK_EQ(munmap(pages + 2 * PAGE, PAGE), 0);
	return pages;
}

static remote_addr address_of(const void *pointer)
{
	return (remote_addr)(uintptr_t)pointer;
}

UNIT_TEST(reads_and_writes)
{
	struct memory memory = open_self();
	char *pages = map_two_pages(), copy[PAGE];
	uint64_t word;

	memset(pages, 'x', 2 * PAGE);
	CHECK_EQ(memory_read(&memory, address_of(pages) + PAGE / 2, copy, PAGE), 0);
	CHECK_EQ(memcmp(copy, pages + PAGE / 2, PAGE), 0);
	CHECK_EQ(memory_write_u64(&memory, address_of(pages), 0x1122334455667788), 0);
	CHECK_EQ(memory_read_u64(&memory, address_of(pages), &word), 0);
	CHECK_EQ(word, 0x1122334455667788);
	memory_close(&memory);
	memory_close(&memory);
}

UNIT_TEST(writes_through_page_protection_and_leaves_it)
{
	struct memory memory = open_self();
	char *pages = map_two_pages();
	uint64_t word;

	CHECK_EQ(mprotect(pages, PAGE, PROT_READ), 0);
	CHECK_EQ(memory_write_u64(&memory, address_of(pages), 42), 0);
	CHECK_EQ(memory_read_u64(&memory, address_of(pages), &word), 0);
	CHECK_EQ(word, 42);
	/* A system call that writes there says whether the page is still read-only. */
	CHECK(pipe((int *)(void *)pages) != 0 && errno == EFAULT);
}

#ifdef HI_FAULTS

enum { OLD = 0, NEW = 0x01010101 }; /* four bytes of eight differ */

/*
 * Does the process itself see a value that is neither the old nor the new one while the word is
 * written?
 */
static bool is_seen_half_done(const struct memory *memory, uint64_t *word)
{
	bool half_done = false;
	uint64_t seen = *word = OLD;
	const pid_t writer = fork();
	int status;

	if (writer == 0)
		_exit(memory_write_u64(memory, address_of(word), NEW) != 0);
	while (seen != NEW) {
		seen = __atomic_load_n(word, __ATOMIC_RELAXED);
		half_done |= seen != OLD && seen != NEW;
	}
	CHECK_EQ(waitpid(writer, &status, 0), writer);
	CHECK_EQ(status, 0);
	return half_done;
}

UNIT_TEST(slow_writes_of_words_are_seen_half_done)
{
	struct memory memory = open_self();
	uint64_t *word = (uint64_t *)(void *)map_two_pages(), before = 0;

	setenv("HEAPINJECT_FAULT_SLOW_WRITES", "1", 1);
	WAIT_FOR(is_seen_half_done(&memory, word)); /* the watching thread gets no CPU at times */
	CHECK_EQ(mprotect(word, PAGE, PROT_READ), 0);
	CHECK_EQ(memory_write_u64(&memory, address_of(word), OLD), 0);
	CHECK_EQ(*(volatile uint64_t *)word, OLD);
	CHECK_EQ(memory_write_u64(&memory, address_of(word) + 2 * PAGE, 1), -EFAULT);
	CHECK_EQ(memory_write_u64(&memory, address_of(word) + 2 * PAGE - 4, UINT64_MAX), -EFAULT);
	CHECK_EQ(memory_read(&memory, address_of(word) + 2 * PAGE - 4, &before, 4), 0);
	CHECK_EQ(before, 0); /* all or nothing */
	unsetenv("HEAPINJECT_FAULT_SLOW_WRITES");
}

#else

UNIT_TEST(slow_writes_of_words_are_seen_half_done)
{
	SKIP("needs a build with FAULTS=1");
}

#endif

UNIT_TEST(unmapped_is_efault_and_touches_nothing)
{
	struct memory memory = open_self();
	const char *pages = map_two_pages();
	uint64_t word = 7;

	CHECK_EQ(memory_read_u64(&memory, address_of(pages) + 2 * PAGE, &word), -EFAULT);
	CHECK_EQ(memory_read_u64(&memory, address_of(pages) + 2 * PAGE - 4, &word), -EFAULT);
	CHECK_EQ(memory_read_u64(&memory, 0xffffffffff600000, &word), -EFAULT);
	CHECK_EQ(memory_read_u64(&memory, 0, &word), -EFAULT);
	CHECK_EQ(memory_write_u64(&memory, address_of(pages) + 2 * PAGE, 1), -EFAULT);
	CHECK_EQ(word, 7);
	CHECK(memory_is_alive(&memory));
}

UNIT_TEST(after_exit_there_is_nothing)
{
	struct memory memory;
	const pid_t child = fork();
	uint64_t word = 0;

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	CHECK_EQ(memory_open(&memory, child, child), 0);
	CHECK(memory_is_alive(&memory));
	CHECK_EQ(memory_read_u64(&memory, address_of(&word) & ~7ull, &word), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CHECK_EQ(memory_read_u64(&memory, address_of(&word), &word), -ESRCH);
	CHECK_EQ(memory_write_u64(&memory, address_of(&word), 1), -ESRCH);
	CHECK(!memory_is_alive(&memory));
	CHECK_EQ(memory_open(&memory, child, child), -ESRCH);
}

UNIT_TEST(after_exec_no_stranger_is_reached)
{
	int started[2], go[2];
	struct memory memory;
	char byte;
	pid_t child;

	CHECK_EQ(pipe2(started, O_CLOEXEC) | pipe2(go, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(started[0]);
		if (read(go[0], &byte, 1) == 1)
			execlp("sleep", "sleep", "5", NULL);
		_exit(1);
	}
	close(started[1]);
	CHECK_EQ(memory_open(&memory, child, child), 0);
	CHECK_EQ(write(go[1], "x", 1), 1);
	/* The child's end closes by itself when the exec has happened. */
	CHECK_EQ(read(started[0], &byte, 1), 0);
	CHECK(!memory_is_alive(&memory));
	CHECK_EQ(memory_write_u64(&memory, address_of(&memory), 0), -ESRCH);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

UNIT_TEST(zombie_leader_is_reached_through_another_thread)
{
	struct memory memory;
	uint64_t word;
	pid_t tid, child = zombie_leader_start(&tid);

	CHECK_EQ(memory_open(&memory, child, tid), 0);
	CHECK_EQ(memory_read_u64(&memory, address_of(&zombie_leader), &word), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

UNIT_TEST(pieces_are_read_but_for_those_that_cannot_be)
{
	enum { PIECES = 1500 };
	static uint64_t from[PIECES], into[PIECES];
	static struct memory_piece piece[PIECES];
	struct memory memory;

	CHECK_EQ(memory_open_to_read(&memory, getpid(), getpid()), 0);
	for (size_t i = 0; i < PIECES; i++) {
		from[i] = i + 1;
		piece[i] = (struct memory_piece){
			.from = (uintptr_t)&from[i], .into = &into[i], .size = sizeof(*into)};
	}
	piece[0].from = piece[7].from = piece[512].from = piece[PIECES - 1].from = 8;
	CHECK_EQ(memory_read_pieces(&memory, piece, PIECES), 0);
	for (size_t i = 0; i < PIECES; i++) {
		CHECK_EQ(piece[i].is_read, piece[i].from != 8);
		CHECK_EQ(into[i], piece[i].is_read ? i + 1 : 0);
	}
	memory_close(&memory);
}

UNIT_MAIN()
