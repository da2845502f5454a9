/* SPDX-License-Identifier: MIT */
/* reach_test.c - blocks of a process of this test's: what its memory refers to, and what not. */
#include "reach.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>

#include "clock.h"
#include "thread_words.h"
#include "victim.h"

#define SECOND_NS 1000000000ull
#define COUNT 9u

/* The addresses are no pointers of this process: the blocks exist in its sums alone. */
enum {
	IN_GLOBAL,
	IN_LOCAL,
	IN_TLS,
	IN_MAP,
	IN_REGISTER,
	IN_BLOCK,
	BELOW_STACK,
	NOWHERE,
	OF_LINKER
};
#define BLOCK(number) (0x5000000000ull + (number)*0x1000)

static volatile uint64_t in_global;
static __thread volatile uint64_t in_tls;
static uint64_t real_block[4] = {BLOCK(IN_BLOCK)};

static __attribute__((noinline)) void leave_below(void)
{
	volatile uint64_t room[64];

	room[0] = BLOCK(BELOW_STACK);
	(void)room[0];
}

static __attribute__((noinline)) void leave_in_map(void)
{
	volatile uint64_t *map =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	map[7] = BLOCK(IN_MAP);
}

static void be_victim(struct victim_page *page)
{
	volatile uint64_t in_local = BLOCK(IN_LOCAL);

	leave_in_map();
	leave_below();
	in_global = BLOCK(IN_GLOBAL);
	in_tls = BLOCK(IN_TLS);
	page->ready = 1;
	for (;;) {
		page->progress++;
		in_local = in_local;
		victim_pause_us(100); /* other values come into the registers */
	}
}

struct question {
	const struct victim *victim;
	struct reach_target target;
	struct reach_block block[COUNT + 1];
	uint64_t deadline_ns;
	struct reach reach;
};

/* In a tracing thread. */
static int ask(void *context)
{
	struct question *question = context;
	struct tracee tracee;
	struct arch_regs regs;
	struct thread_words words;
	const pid_t pid = question->victim->pid;
	int err = tracee_stop(&tracee, pid, pid, UNIT_PATIENCE_MS);

	if (!err)
		err = thread_words_read(&tracee, &regs, &words);
	if (err)
		return err;
	words.word[2] = BLOCK(IN_REGISTER);
	words.below_sp = 0;
	question->target.thread = &words;
	question->target.thread_count = 1;
	err = reach_mark(&question->target, question->block, COUNT + 1, question->deadline_ns,
			 &question->reach);
	thread_words_close(&words);
	(void)!tracee_detach(&tracee);
	return err;
}

static int asked(struct question *question, const struct victim *victim, uint64_t deadline_ns)
{
	struct elf_images images;

	CHECK_EQ(elf_images_read(victim->pid, &victim->maps, &victim->memory, &images), 0);
	*question = (struct question){.victim = victim,
				      .deadline_ns = deadline_ns,
				      .target = {.pid = victim->pid,
						 .memory = &victim->memory,
						 .maps = &victim->maps,
						 .images = &images}};
	for (uint32_t i = 0; i < COUNT; i++)
		question->block[COUNT - 1 - i].block = (struct mark_block){BLOCK(i), 64};
	for (size_t i = 0; i < images.count; i++)
		if (images.image[i].is_loader)
			question->block[COUNT - 1 - OF_LINKER].caller =
				images.image[i].text[0].lo + 1;
	question->block[COUNT - 1 - NOWHERE].caller = images.image[0].text[0].lo + 1;
	/* a block that is there: it refers to another one */
	question->block[COUNT].block =
		(struct mark_block){(uintptr_t)real_block, sizeof(real_block)};
	const int err = tracee_worker(ask, question);
	elf_images_close(&images);
	return err;
}

static bool is_reached(const struct question *question, uint32_t number)
{
	for (uint32_t i = 0; i < question->reach.marks.count; i++)
		if (question->reach.block[i].address == BLOCK(number))
			return question->reach.marks.state[i] == MARK_REACHED;
	UNIT_FAIL("no block %u", number);
}

UNIT_TEST(data_stacks_thread_local_storage_and_registers_are_roots)
{
	static struct victim victim;
	static struct question question;

	victim_start(&victim, be_victim);
	CHECK_EQ(asked(&question, &victim, clock_now_ns() + 60 * SECOND_NS), 0);
	CHECK_EQ(question.reach.marks.count, COUNT + 1);
	CHECK(is_reached(&question, IN_GLOBAL));
	CHECK(is_reached(&question, IN_LOCAL));
	CHECK(is_reached(&question, IN_TLS));
	CHECK(is_reached(&question, IN_REGISTER));
	CHECK(!is_reached(&question, IN_MAP));
	CHECK(!is_reached(&question, BELOW_STACK));
	CHECK(!is_reached(&question, NOWHERE));
	CHECK(is_reached(&question, OF_LINKER));
	/* its only pointer is in data, which is a root as such */
	CHECK(is_reached(&question, IN_BLOCK));
	CHECK(question.reach.read_bytes > 0);
	reach_close(&question.reach);
	kill(victim.pid, SIGKILL);
}

UNIT_TEST(the_search_ends_at_its_deadline)
{
	static struct victim victim;
	static struct question question;

	victim_start(&victim, be_victim);
	CHECK_EQ(asked(&question, &victim, clock_now_ns()), -ETIMEDOUT);
	reach_close(&question.reach);
	kill(victim.pid, SIGKILL);
}

UNIT_MAIN()
