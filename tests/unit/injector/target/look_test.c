/* SPDX-License-Identifier: MIT */
/*
 * look_test.c - looks at words of the own process, of children, and of a thread that has ended.
 */
#include "look.h"

#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "unit.h"

#define PAGE 4096u

static remote_addr address_of(const void *pointer)
{
	return (remote_addr)(uintptr_t)pointer;
}

static struct memory open_self(void)
{
	struct memory memory;

	CHECK_EQ(memory_open(&memory, getpid(), getpid()), 0);
	memory.witness = getauxval(AT_RANDOM);
	return memory;
}

static uint64_t read_word(struct look *look, const struct memory *memory, const uint64_t *word)
{
	uint64_t value = 0;

	CHECK_EQ(look_read(look, memory, address_of(word), &value, sizeof(value)), 0);
	return value;
}

/* Words of 1100 pages are more than the kernel reads at a time. */
UNIT_TEST(words_of_many_pages_are_seen)
{
	const size_t pages = 1100, step = PAGE / sizeof(uint64_t);
	struct memory memory = open_self();
	struct look look = {0};
	uint64_t *words = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(words != MAP_FAILED);
	look_begin(&look);
	for (size_t i = pages; i > 0; i--)
		(void)!read_word(&look, &memory, &words[(i - 1) * step + i % step]);
	CHECK_EQ(look_again(&look, &memory), 0);
	for (size_t i = 1; i <= pages; i += pages / 11) {
		words[(i - 1) * step + i % step] = 1;
		CHECK_EQ(look_again(&look, &memory), -EAGAIN);
		words[(i - 1) * step + i % step] = 0;
		words[(i - 1) * step + (i + 1) % step] = 1; /* a neighbour, not looked at */
		CHECK_EQ(look_again(&look, &memory), 0);
	}
	look_close(&look);
	CHECK_EQ(munmap(words, pages * PAGE), 0);
	memory_close(&memory);
}

/* Ranges that overlap, cross a page, lie in any order, and come after a look. */
UNIT_TEST(ranges_of_any_shape_are_seen)
{
	static const struct {
		size_t at, size;
	} range[] = {{PAGE - 8, 16},    {100, 300}, {200, 50},
		     {2 * PAGE + 5, 1}, {350, 100}, {PAGE - 100, 93}};
	const size_t count = sizeof(range) / sizeof(*range);
	struct memory memory = open_self();
	struct look look = {0};
	uint8_t copy[300];
	uint8_t *bytes =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(bytes != MAP_FAILED);
	for (size_t i = 0; i < 3 * PAGE; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	look_begin(&look);
	for (size_t i = 0; i < count; i++) {
		CHECK_EQ(look_read(&look, &memory, address_of(bytes + range[i].at), copy,
				   range[i].size),
			 0);
		CHECK_EQ(look_again(&look, &memory), 0);
		for (size_t j = 0; j <= i; j++) {
			const size_t ends[] = {range[j].at, range[j].at + range[j].size - 1};

			for (size_t end = 0; end < 2; end++) {
				bytes[ends[end]] ^= 1;
				CHECK_EQ(look_again(&look, &memory), -EAGAIN);
				bytes[ends[end]] ^= 1;
			}
		}
	}
	bytes[99] ^= 1;
	bytes[PAGE + 8] ^= 1;
	CHECK_EQ(look_again(&look, &memory), 0);
	look_close(&look);
	CHECK_EQ(munmap(bytes, 3 * PAGE), 0);
	memory_close(&memory);
}

/* What lies between two pages that are looked at may not be readable. */
UNIT_TEST(a_hole_between_pages_is_not_read)
{
	struct memory memory = open_self();
	struct look look = {0};
	uint8_t *bytes = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0),
		copy[8];

	CHECK(bytes != MAP_FAILED);
	CHECK_EQ(munmap(bytes + PAGE, PAGE), 0);
	look_begin(&look);
	CHECK_EQ(look_read(&look, &memory, address_of(bytes + PAGE - 8), copy, 8), 0);
	CHECK_EQ(look_read(&look, &memory, address_of(bytes + 2 * PAGE), copy, 8), 0);
	CHECK_EQ(look_again(&look, &memory), 0);
	bytes[2 * PAGE + 7] = 1;
	CHECK_EQ(look_again(&look, &memory), -EAGAIN);
	look_close(&look);
	CHECK_EQ(munmap(bytes, 3 * PAGE), 0);
	memory_close(&memory);
}

UNIT_TEST(any_word_that_changes_is_seen)
{
	static uint64_t words[3000];
	const size_t last = sizeof(words) / sizeof(*words) - 1;
	struct memory memory = open_self();
	struct look look = {0};

	look_begin(&look);
	for (size_t i = 0; i <= last; i++)
		CHECK_EQ(read_word(&look, &memory, &words[i]), 0);
	CHECK_EQ(look_again(&look, &memory), 0);
	for (size_t i = 0; i <= last; i += last / 3) {
		words[i] = 1ull << 63;
		CHECK_EQ(look_again(&look, &memory), -EAGAIN);
		words[i] = 0;
		CHECK_EQ(look_again(&look, &memory), 0);
	}
	look_close(&look);
	CHECK_EQ(look_again(&look, &memory), -EAGAIN);
	memory_close(&memory);
}

UNIT_TEST(what_is_unmapped_is_not_the_same)
{
	struct memory memory = open_self();
	struct look look = {0};
	uint64_t *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	look_begin(&look);
	(void)read_word(&look, &memory, pages);
	(void)read_word(&look, &memory, pages + PAGE / sizeof(*pages));
	CHECK_EQ(look_again(&look, &memory), 0);
	CHECK_EQ(munmap(pages + PAGE / sizeof(*pages), PAGE), 0);
	CHECK_EQ(look_again(&look, &memory), -EAGAIN);
	CHECK_EQ(munmap(pages, PAGE), 0);
	CHECK_EQ(look_again(&look, &memory), -EAGAIN);
	look_close(&look);
	memory_close(&memory);
}

UNIT_TEST(what_was_not_read_or_is_not_certain_is_not_the_same)
{
	static uint64_t word;
	struct memory memory = open_self();
	struct look look = {0};
	uint64_t value;

	look_begin(&look);
	CHECK_EQ(look_again(&look, &memory), -EAGAIN);
	(void)read_word(&look, &memory, &word);
	CHECK_EQ(look_read(&look, &memory, 8, &value, sizeof(value)), -EFAULT);
	CHECK_EQ(look_again(&look, &memory), -EAGAIN);
	look_begin(&look);
	(void)read_word(&look, &memory, &word);
	CHECK_EQ(look_again(&look, &memory), 0);
	look_spoil(&look);
	(void)read_word(&look, &memory, &word);
	CHECK_EQ(look_again(&look, &memory), -EAGAIN);
	memory.witness = 0;
	look_begin(&look);
	(void)read_word(&look, &memory, &word);
	CHECK_EQ(look_again(&look, &memory), -EAGAIN);
	CHECK_EQ(look_read(NULL, &memory, address_of(&word), &value, sizeof(value)), 0);
	look_close(&look);
	memory_close(&memory);
}

/* The number belongs to a process whose memory looks alike, but for the witness. */
UNIT_TEST(another_address_space_is_not_the_same)
{
	static uint64_t word;
	struct memory memory = open_self();
	uint8_t *witness = (uint8_t *)(uintptr_t)memory.witness;
	struct look look = {0};
	int status;

	look_begin(&look);
	(void)read_word(&look, &memory, &word);
	const pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		witness[0] ^= 1;
		raise(SIGSTOP);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, WUNTRACED), child);
	memory.tid = child;
	CHECK_EQ(look_again(&look, &memory), -EAGAIN);
	kill(child, SIGKILL);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(look_again(&look, &memory), -ESRCH);
	memory.tid = getpid();
	CHECK_EQ(look_again(&look, &memory), 0);
	look_close(&look);
	memory_close(&memory);
}

UNIT_MAIN()
