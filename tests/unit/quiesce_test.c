/* SPDX-License-Identifier: MIT */
/*
 * quiesce: threads of a child that stand where they must not: with their pc, or a return address, in what is said to be the payload, with a gate address in a register,
 * or counted as in flight. The gate and the payload are only said to be: any code will do.
 */
#include "injector/quiesce.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "hi_wire.h"
#include "victim.h"

#define GATE 0x7123456000ull
#define ORIGINAL 0x7fff00001000ull
#define SHORT_MS 60
#define LONG_MS 3000

/* All code of this section is "the payload"; the linker names its bounds. */
#define FAKE_PAYLOAD __attribute__((section("fake_payload"), noinline))
extern const char __start_fake_payload[], __stop_fake_payload[];

enum { STAY = 0, TID }; /* words of the page: the thread is to stay inside while 1; its tid */

static struct hi_thread_slot slots[HI_THREAD_SLOTS]; /* the child's copy is what is read */

FAKE_PAYLOAD static void spin_inside(struct victim_page *page)
{
	page->answered = 1;
	while (page->word[STAY])
		__asm__ volatile("pause");
}

FAKE_PAYLOAD static void wait_inside(struct victim_page *page)
{
	page->answered = 1;
	while (page->word[STAY])
		victim_pause_us(20000); /* the pc is in libc, and the way back leads through here */
	__asm__ volatile("");
}

#define DEEP_BYTES (3u * STACKWALK_COPY_BYTES)

__attribute__((noinline)) static void wait_deep_down(struct victim_page *page)
{
	volatile char room[DEEP_BYTES];
	room[0] = room[DEEP_BYTES - 1] = 0;
	page->answered = 1;
	while (page->word[STAY])
		victim_pause_us(20000);
}

/* The way back leads through here, but far above what is copied of a stack. */
FAKE_PAYLOAD static void call_something_deep(struct victim_page *page)
{
	wait_deep_down(page);
	__asm__ volatile("");
}

/* Spins with the address of a gate entry in a register, until that holds the original. */
static void spin_with_register(struct victim_page *page)
{
	page->answered = 1;
	__asm__ volatile("mov %0, %%r12\n"
			 "1: pause\n"
			 "lock incq (%2)\n"
			 "cmp %1, %%r12\n"
			 "jne 1b\n"
			 :
			 : "r"(GATE + HI_GATE_STRIDE), "r"(ORIGINAL + 1), "r"(&page->progress)
			 : "r12", "memory", "cc");
	page->word[STAY] = 0;
}

static void (*stay)(struct victim_page *page);

static void *wait_outside(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void *stay_inside(void *context)
{
	struct victim_page *page = context;
	page->word[TID] = (uint64_t)syscall(SYS_gettid);
	stay(page);
	return wait_outside(NULL);
}

enum { SLEEPERS = 150, SPINNERS = 6 };

static void *spin_outside(void *unused)
{
	for (;;)
		__asm__ volatile("pause");
	return unused;
}

static void gather_a_crowd(struct victim_page *page)
{
	pthread_t thread;
	for (unsigned i = 0; i < SLEEPERS + SPINNERS; i++)
		pthread_create(&thread, NULL, i < SPINNERS ? spin_outside : wait_outside, NULL);
	page->answered = 1;
}

static void three_threads(struct victim_page *page)
{
	pthread_t thread;
	page->word[STAY] = 1;
	pthread_create(&thread, NULL, wait_outside, NULL);
	pthread_create(&thread, NULL, stay_inside, page);
	while (!page->answered)
		victim_pause_us(100);
	page->ready = 1;
	for (;; page->progress++)
		victim_pause_us(100);
}

struct scene {
	struct victim victim;
	struct elf_images images;
	struct heal_target heal;
	struct quiesce_target target;
};

static void scene_open(struct scene *scene, void (*where)(struct victim_page *page))
{
	*scene = (struct scene){0};
	stay = where;
	victim_start(&scene->victim, three_threads);
	CHECK_EQ(elf_images_read(scene->victim.pid, &scene->victim.maps, &scene->victim.memory, &scene->images), 0);
	scene->heal = (struct heal_target){
		.pid = scene->victim.pid,
		.memory = &scene->victim.memory,
		.gate = GATE,
		.gate_count = 3,
		.original = {ORIGINAL, ORIGINAL + 1, ORIGINAL + 2},
	};
	scene->target = (struct quiesce_target){
		.heal = &scene->heal,
		.gate_lo = GATE,
		.gate_hi = GATE + HI_GATE_BYTES,
		.payload_lo = (uintptr_t)__start_fake_payload,
		.payload_hi = (uintptr_t)__stop_fake_payload,
		.thread_slots = (uintptr_t)slots,
	};
	CHECK_EQ(stackwalker_open(scene->victim.pid, &scene->images, &scene->target.walker), 0);
}

static void scene_close(struct scene *scene)
{
	stackwalker_close(scene->target.walker);
	elf_images_close(&scene->images);
	victim_end(&scene->victim);
}

static struct quiesced check_quiesce(const struct scene *scene, int deadline_ms, int expected)
{
	struct quiesced quiesced;
	CHECK_EQ(quiesce(&scene->target, deadline_ms, &quiesced), expected);
	victim_check(&scene->victim);
	return quiesced;
}

static void stay_until_let_go(void (*where)(struct victim_page *page))
{
	struct scene scene;
	scene_open(&scene, where);
	struct quiesced quiesced = check_quiesce(&scene, SHORT_MS, -EBUSY);
	CHECK_EQ(quiesced.threads, 2); /* the others were seen, and are not held */
	CHECK_EQ(quiesced.frames, 0);
	CHECK_EQ(quiesced.stuck, (pid_t)scene.victim.page->word[TID]);
	CHECK_EQ(quiesced.registers_healed, 0);
	scene.victim.page->word[STAY] = 0;
	quiesced = check_quiesce(&scene, LONG_MS, 0);
	CHECK_EQ(quiesced.threads, 3);
	CHECK(quiesced.longest_stop_ns > 0);
	CHECK(quiesced.longest_stop_ns < 1000000000);
	scene_close(&scene);
}

UNIT_TEST(a_pc_inside_is_waited_for)
{
	stay_until_let_go(spin_inside);
}

UNIT_TEST(a_return_address_inside_is_waited_for)
{
	stay_until_let_go(wait_inside);
}

UNIT_TEST(a_return_address_inside_is_found_on_a_deep_stack_too)
{
	stay_until_let_go(call_something_deep);
}

/* It was the stack that told: without the walk the same thread passes. */
UNIT_TEST(without_a_walker_only_the_pc_and_the_counts_tell)
{
	struct scene scene;
	scene_open(&scene, wait_inside);
	struct stackwalker *walker = scene.target.walker;
	scene.target.walker = NULL;
	check_quiesce(&scene, LONG_MS, 0);
	scene.target.walker = walker;
	check_quiesce(&scene, SHORT_MS, -EBUSY);
	scene_close(&scene);

	scene_open(&scene, spin_inside);
	walker = scene.target.walker;
	scene.target.walker = NULL;
	check_quiesce(&scene, SHORT_MS, -EBUSY);
	scene.target.walker = walker;
	scene_close(&scene);
}

UNIT_TEST(a_pc_in_the_gate_is_inside_too)
{
	struct scene scene;
	scene_open(&scene, spin_inside);
	scene.target.gate_lo = scene.target.payload_lo;
	scene.target.gate_hi = scene.target.payload_hi;
	scene.target.payload_lo = scene.target.payload_hi = 0;
	check_quiesce(&scene, SHORT_MS, -EBUSY);
	scene_close(&scene);
}

UNIT_TEST(a_stack_in_the_arena_is_inside_too)
{
	struct scene scene;
	struct proc_syscall syscall = {.running = true};
	scene_open(&scene, wait_inside);
	scene.target.payload_lo = scene.target.payload_hi = 0;
	check_quiesce(&scene, LONG_MS, 0);
	for (int i = 0; i < 100 && syscall.running; i++)
		CHECK_EQ(proc_syscall_read(scene.victim.pid, (pid_t)scene.victim.page->word[TID], &syscall), 0);
	CHECK(!syscall.running);
	scene.heal.skip_lo = syscall.sp & ~0xfffull;
	scene.heal.skip_hi = scene.heal.skip_lo + 0x2000;
	check_quiesce(&scene, SHORT_MS, -EBUSY);
	scene_close(&scene);
}

UNIT_TEST(a_frame_in_flight_is_waited_for)
{
	struct scene scene;
	const remote_addr in_flight = (uintptr_t)&slots[HI_THREAD_SLOTS - 1].in_flight;
	const uint32_t one = 1, none = 0;
	scene_open(&scene, wait_inside);
	scene.victim.page->word[STAY] = 0;
	CHECK_EQ(memory_write(&scene.victim.memory, in_flight, &one, sizeof one), 0);
	const struct quiesced quiesced = check_quiesce(&scene, SHORT_MS, -EBUSY);
	CHECK_EQ(quiesced.threads, 0); /* nobody is stopped for nothing */
	CHECK_EQ(quiesced.frames, 1);
	CHECK_EQ(memory_write(&scene.victim.memory, in_flight, &none, sizeof none), 0);
	check_quiesce(&scene, LONG_MS, 0);
	scene_close(&scene);
}

UNIT_TEST(a_register_with_a_gate_address_is_healed)
{
	struct scene scene;
	scene_open(&scene, spin_with_register);
	const struct quiesced quiesced = check_quiesce(&scene, LONG_MS, 0);
	CHECK_EQ(quiesced.threads, 3);
	CHECK(quiesced.registers_healed >= 1);
	for (int i = 0; i < 2000 && scene.victim.page->word[STAY]; i++)
		victim_pause_us(1000);
	CHECK_EQ(scene.victim.page->word[STAY], 0); /* it has found the original */
	CHECK_EQ(check_quiesce(&scene, LONG_MS, 0).registers_healed, 0);
	scene_close(&scene);
}

/* An address between two entries is nobody's copy. */
UNIT_TEST(a_register_with_another_address_is_left_alone)
{
	struct scene scene;
	scene_open(&scene, spin_with_register);
	scene.heal.gate += 8;
	CHECK_EQ(check_quiesce(&scene, LONG_MS, 0).registers_healed, 0);
	CHECK_EQ(scene.victim.page->word[STAY], 1);
	scene_close(&scene);
}

/* More than are asked at once. */
UNIT_TEST(every_thread_of_a_crowd_is_looked_at)
{
	struct scene scene;
	scene_open(&scene, gather_a_crowd);
	CHECK_EQ(check_quiesce(&scene, LONG_MS, 0).threads, 3 + SLEEPERS + SPINNERS);
	scene_close(&scene);
}

UNIT_TEST(a_target_that_is_gone_is_told_at_once)
{
	struct scene scene;
	struct quiesced quiesced;
	scene_open(&scene, wait_inside);
	kill(scene.victim.pid, SIGKILL);
	waitpid(scene.victim.pid, NULL, 0);
	CHECK_EQ(quiesce(&scene.target, LONG_MS, &quiesced), -ESRCH);
	stackwalker_close(scene.target.walker);
	elf_images_close(&scene.images);
	victim_forget(&scene.victim);
}

UNIT_MAIN()
