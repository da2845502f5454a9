/* SPDX-License-Identifier: MIT */
/*
 * quiesce: threads of a child that stand where they must not: with their pc, or a return address,
 * in what is said to be the payload, with a gate address in a register, or counted as in flight.
 */
#include "quiesce.h"

#include <errno.h>

#include "clock.h"
#include "inside.h"
#include "standing.h"

#define SHORT_MS 60

FAKE_PAYLOAD static void spin_inside(struct victim_page *page)
{
	page->answered = 1;
	while (page->word[STAY])
		pause_cpu();
}

#define DEEP_BYTES (3u * STACKWALK_COPY_BYTES)

static void wait_outside(struct victim_page *page)
{
	page->answered = 1;
	while (page->word[STAY])
		victim_pause_us(20000);
}

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

static void wait_below_unknown_code(struct victim_page *page)
{
	call_without_information(wait_outside, page);
}

/* The way back leads through here, above code at which the walk ends. */
FAKE_PAYLOAD static void call_unknown_code(struct victim_page *page)
{
	wait_below_unknown_code(page);
	__asm__ volatile("");
}

static void spin_without_a_stack(struct victim_page *page)
{
	page->answered = 1;
	spin_without_stack(&page->word[STAY]);
}

/* Spins with the address of a gate entry in a register, until that holds the original. */
static void spin_with_register(struct victim_page *page)
{
	page->answered = 1;
	spin_until_register_changes(GATE + HI_GATE_STRIDE, ORIGINAL + 1, &page->progress);
	page->word[STAY] = 0;
}

enum { SLEEPERS = 150, SPINNERS = 6 };

static void *spin_outside(void *unused)
{
	for (;;)
		pause_cpu();
	return unused;
}

static void gather_a_crowd(struct victim_page *page)
{
	pthread_t thread;
	for (unsigned i = 0; i < SLEEPERS + SPINNERS; i++)
		pthread_create(&thread, NULL, i < SPINNERS ? spin_outside : wait_elsewhere, NULL);
	page->answered = 1;
}

static struct quiesced check_quiesce(const struct scene *scene, int deadline_ms, int expected)
{
	struct quiesced quiesced;
	CHECK_EQ(quiesce(&scene->target, deadline_ms, &quiesced), expected);
	victim_check(&scene->victim);
	return quiesced;
}

static void stay_in(struct scene *scene)
{
	struct quiesced quiesced;
	/* The others are seen, and not held; a thread that gets no CPU takes its time to stop. */
	WAIT_FOR(quiesced = check_quiesce(scene, SHORT_MS, -EBUSY), quiesced.threads >= 2);
	CHECK_EQ(quiesced.threads, 2);
	CHECK_EQ(quiesced.frames, 0);
	CHECK_EQ(quiesced.stuck, (pid_t)scene->victim.page->word[TID]);
	CHECK_EQ(quiesced.registers.changed, 0);
	scene->victim.page->word[STAY] = 0;
	quiesced = check_quiesce(scene, UNIT_PATIENCE_MS, 0);
	CHECK_EQ(quiesced.threads, 3);
	CHECK(quiesced.longest_stop_ns > 0);
	CHECK(quiesced.longest_stop_ns < UNIT_PATIENCE_MS * 1000000ull);
	scene_close(scene);
}

static void stay_until_let_go(void (*where)(struct victim_page *page))
{
	struct scene scene;
	scene_open(&scene, where);
	stay_in(&scene);
}

UNIT_TEST(a_pc_inside_is_waited_for)
{
	stay_until_let_go(spin_inside);
}

UNIT_TEST(a_pc_in_the_probes_is_waited_for)
{
	struct scene scene;
	scene_open(&scene, spin_inside);
	scene.target.probes_lo = scene.target.payload_lo;
	scene.target.probes_hi = scene.target.payload_hi;
	scene.target.payload_lo = scene.target.payload_hi = 0;
	stay_in(&scene);
}

UNIT_TEST(a_return_address_inside_is_waited_for)
{
	stay_until_let_go(wait_inside);
}

UNIT_TEST(a_return_address_inside_is_found_on_a_deep_stack_too)
{
	stay_until_let_go(call_something_deep);
}

/*
 * A look too short for patience with stacks that cannot be read, which takes ten milliseconds.
 * Where we get no CPU it is longer, and may find all clear.
 */
#define GLANCE_MS 3
#define PATIENCE_MS 10u
#define GLANCES 20u

static struct quiesced glance(const struct scene *scene)
{
	const uint64_t begin = clock_now_ns();
	struct quiesced quiesced;
	const int err = quiesce(&scene->target, GLANCE_MS, &quiesced);
	if (err || clock_now_ns() - begin < PATIENCE_MS * 1000000u)
		CHECK_EQ(err, -EBUSY);
	victim_check(&scene->victim);
	return quiesced;
}

/*
 * The others are clear, and this one is not until it has been looked at twice; after that it must
 * not keep us.
 */
static void stays_until_looked_at_twice(void (*where)(struct victim_page *page))
{
	struct scene scene;
	struct quiesced quiesced;
	unsigned looks = 0;
	scene_open(&scene, where);
	do
		quiesced = glance(&scene);
	while (++looks < GLANCES || quiesced.threads < 2 ||
	       quiesced.stuck != (pid_t)scene.victim.page->word[TID]);
	quiesced = check_quiesce(&scene, UNIT_PATIENCE_MS, 0);
	CHECK_EQ(quiesced.threads, 3);
	scene.victim.page->word[STAY] = 0;
	scene_close(&scene);
}

UNIT_TEST(a_return_address_inside_above_unknown_code_is_no_reason_to_hurry)
{
	stays_until_looked_at_twice(call_unknown_code);
}

UNIT_TEST(a_stack_that_cannot_be_read_is_no_proof)
{
	stays_until_looked_at_twice(spin_without_a_stack);
}

UNIT_TEST(a_stack_that_cannot_be_walked_is_searched)
{
	struct scene scene;
	struct quiesced quiesced;
	scene_open(&scene, wait_below_unknown_code);
	WAIT_FOR(quiesce(&scene.target, GLANCE_MS, &quiesced) == 0);
	CHECK_EQ(quiesced.threads, 3);
	scene_close(&scene);
}

/* It was the stack that told: without the walk the same thread passes. */
UNIT_TEST(without_a_walker_only_the_pc_and_the_counts_tell)
{
	struct scene scene;
	scene_open(&scene, wait_inside);
	scene.target.walker = NULL;
	check_quiesce(&scene, UNIT_PATIENCE_MS, 0);
	scene.target.walker = scene.walker;
	check_quiesce(&scene, SHORT_MS, -EBUSY);
	scene_close(&scene);

	scene_open(&scene, spin_inside);
	scene.target.walker = NULL;
	check_quiesce(&scene, SHORT_MS, -EBUSY);
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
	check_quiesce(&scene, UNIT_PATIENCE_MS, 0);
	WAIT_FOR(proc_syscall_read(scene.victim.pid, (pid_t)scene.victim.page->word[TID],
				   &syscall) == 0 &&
		 !syscall.running);
	scene.escaped.skip_lo = syscall.sp & ~0xfffull;
	scene.escaped.skip_hi = scene.escaped.skip_lo + 0x2000;
	check_quiesce(&scene, SHORT_MS, -EBUSY);
	scene_close(&scene);
}

static void check_waits_for(remote_addr count)
{
	struct scene scene;
	const uint32_t one = 1, none = 0;
	scene_open(&scene, wait_inside);
	scene.victim.page->word[STAY] = 0;
	say_in_flight(&scene.victim, HI_THREAD_SLOTS - 1, 0);
	CHECK_EQ(memory_write(&scene.victim.memory, count, &one, sizeof(one)), 0);
	const struct quiesced quiesced = check_quiesce(&scene, SHORT_MS, -EBUSY);
	CHECK_EQ(quiesced.threads, 0); /* nobody is stopped for nothing */
	CHECK_EQ(quiesced.frames, 1);
	CHECK_EQ(memory_write(&scene.victim.memory, count, &none, sizeof(none)), 0);
	check_quiesce(&scene, UNIT_PATIENCE_MS, 0);
	scene_close(&scene);
}

UNIT_TEST(a_frame_in_flight_is_waited_for)
{
	check_waits_for((uintptr_t)&table.slot[HI_THREAD_SLOTS - 1].in_flight);
}

UNIT_TEST(a_frame_of_a_guest_is_waited_for)
{
	check_waits_for((uintptr_t)&table.place[1].count);
}

UNIT_TEST(a_frame_that_found_no_place_is_waited_for)
{
	check_waits_for((uintptr_t)&table.passing);
}

UNIT_TEST(a_register_with_a_gate_address_is_healed)
{
	struct scene scene;
	scene_open(&scene, spin_with_register);
	const struct quiesced quiesced = check_quiesce(&scene, UNIT_PATIENCE_MS, 0);
	CHECK_EQ(quiesced.threads, 3);
	CHECK(quiesced.registers.changed >= 1);
	WAIT_FOR(scene.victim.page->word[STAY] == 0); /* it has found the original */
	CHECK_EQ(check_quiesce(&scene, UNIT_PATIENCE_MS, 0).registers.changed, 0);
	scene_close(&scene);
}

/* An address between two entries is nobody's copy. */
UNIT_TEST(a_register_with_another_address_is_left_alone)
{
	struct scene scene;
	scene_open(&scene, spin_with_register);
	scene.escaped.gate += 8;
	CHECK_EQ(check_quiesce(&scene, UNIT_PATIENCE_MS, 0).registers.changed, 0);
	CHECK_EQ(scene.victim.page->word[STAY], 1);
	scene_close(&scene);
}

/* More than are asked at once. */
UNIT_TEST(every_thread_of_a_crowd_is_looked_at)
{
	struct scene scene;
	scene_open(&scene, gather_a_crowd);
	CHECK_EQ(check_quiesce(&scene, UNIT_PATIENCE_MS, 0).threads, 3 + SLEEPERS + SPINNERS);
	scene_close(&scene);
}

UNIT_TEST(a_target_that_is_gone_is_told_at_once)
{
	struct scene scene;
	struct quiesced quiesced;
	scene_open(&scene, wait_inside);
	kill(scene.victim.pid, SIGKILL);
	waitpid(scene.victim.pid, NULL, 0);
	CHECK_EQ(quiesce(&scene.target, UNIT_PATIENCE_MS, &quiesced), -ESRCH);
	stackwalker_close(scene.walker);
	elf_images_close(&scene.images);
	victim_forget(&scene.victim);
}

UNIT_MAIN()
