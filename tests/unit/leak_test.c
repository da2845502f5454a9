/* SPDX-License-Identifier: MIT */
/*
 * leak: a count without a frame is forgotten; one with a frame, a thread that cannot be told, or a count that moves is not. The payload is only said to be one: any code will do.
 */
#include "injector/leak.h"

#include <errno.h>
#include <pthread.h>

#include "hi_wire.h"
#include "victim.h"

#define GATE 0x7123456000ull

/* All code of this section is "the payload"; the linker names its bounds. */
#define FAKE_PAYLOAD __attribute__((section("fake_payload"), noinline))
extern const char __start_fake_payload[], __stop_fake_payload[];

enum { STAY = 0 }; /* word of the page: the thread is to stay where it is while 1 */

static struct hi_thread_slot slots[HI_THREAD_SLOTS]; /* the child's copy is what is read */

FAKE_PAYLOAD static void wait_inside(struct victim_page *page)
{
	page->answered = 1;
	while (page->word[STAY])
		victim_pause_us(20000); /* the pc is in libc, and the way back leads through here */
	__asm__ volatile("");
}

static void wait_outside(struct victim_page *page)
{
	page->answered = 1;
	while (page->word[STAY])
		victim_pause_us(20000);
}

/* With an address of the payload on the stack that is in use, but is no return address. */
static void wait_with_a_word(struct victim_page *page)
{
	const char *volatile word = __start_fake_payload;
	wait_outside(page);
	(void)word;
}

static void (*stay)(struct victim_page *page);

static void *stay_somewhere(void *context)
{
	stay(context);
	for (;;)
		pause();
	return NULL;
}

static void two_threads(struct victim_page *page)
{
	pthread_t thread;
	page->word[STAY] = 1;
	pthread_create(&thread, NULL, stay_somewhere, page);
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
	struct stackwalker *walker;
	struct quiesce_target target;
};

static void scene_open(struct scene *scene, void (*where)(struct victim_page *page))
{
	const uint32_t counts[] = {3, 1};
	*scene = (struct scene){0};
	stay = where;
	victim_start(&scene->victim, two_threads);
	CHECK_EQ(elf_images_read(scene->victim.pid, &scene->victim.maps, &scene->victim.memory, &scene->images), 0);
	CHECK_EQ(stackwalker_open(scene->victim.pid, &scene->images, &scene->walker), 0);
	scene->heal = (struct heal_target){.pid = scene->victim.pid, .memory = &scene->victim.memory, .gate = GATE, .gate_count = 3};
	scene->target = (struct quiesce_target){
		.heal = &scene->heal,
		.walker = scene->walker,
		.gate_lo = GATE,
		.gate_hi = GATE + HI_GATE_BYTES,
		.payload_lo = (uintptr_t)__start_fake_payload,
		.payload_hi = (uintptr_t)__stop_fake_payload,
		.thread_slots = (uintptr_t)slots,
	};
	for (size_t i = 0; i < 2; i++)
		CHECK_EQ(memory_write(&scene->victim.memory, (uintptr_t)&slots[i * (HI_THREAD_SLOTS - 1)].in_flight, &counts[i], sizeof counts[i]), 0);
}

static void scene_close(struct scene *scene)
{
	stackwalker_close(scene->walker);
	elf_images_close(&scene->images);
	victim_end(&scene->victim);
}

static void check_forgotten(const struct scene *scene)
{
	struct hi_thread_slot slot;
	uint64_t frames = 0;
	CHECK_EQ(leak_forget(&scene->target, &frames), 0);
	CHECK_EQ(frames, 4);
	CHECK_EQ(memory_read(&scene->victim.memory, (uintptr_t)&slots[HI_THREAD_SLOTS - 1], &slot, sizeof slot), 0);
	CHECK_EQ(slot.in_flight, 0);
	CHECK_EQ(leak_forget(&scene->target, &frames), 0);
	CHECK_EQ(frames, 0);
	victim_check(&scene->victim);
}

static void check_kept(const struct scene *scene)
{
	struct hi_thread_slot slot;
	uint64_t frames = 77;
	CHECK_EQ(leak_forget(&scene->target, &frames), -EAGAIN);
	CHECK_EQ(frames, 77);
	CHECK_EQ(memory_read(&scene->victim.memory, (uintptr_t)slots, &slot, sizeof slot), 0);
	CHECK_EQ(slot.in_flight, 3);
	victim_check(&scene->victim);
}

UNIT_TEST(a_count_without_a_frame_is_forgotten)
{
	struct scene scene;
	scene_open(&scene, wait_outside);
	check_forgotten(&scene);
	scene_close(&scene);
}

UNIT_TEST(a_count_is_kept_while_a_frame_is_there)
{
	struct scene scene;
	scene_open(&scene, wait_inside);
	check_kept(&scene);
	scene.target.walker = NULL; /* its stack shows it, too */
	check_kept(&scene);
	scene.victim.page->word[STAY] = 0;
	victim_pause_us(100000);
	scene.target.walker = scene.walker;
	check_forgotten(&scene);
	scene_close(&scene);
}

UNIT_TEST(without_a_walk_the_stack_is_searched)
{
	struct scene scene;
	scene_open(&scene, wait_outside);
	scene.target.walker = NULL;
	check_forgotten(&scene);
	scene_close(&scene);

	scene_open(&scene, wait_with_a_word);
	scene.target.walker = NULL;
	check_kept(&scene);
	scene.target.walker = scene.walker; /* a complete walk knows that this is nobody's way back */
	check_forgotten(&scene);
	scene_close(&scene);
}

UNIT_TEST(a_count_that_moves_is_kept)
{
	struct scene scene;
	struct hi_thread_slot slot;
	uint64_t frames = 77;
	const uint32_t two = 2;
	scene_open(&scene, wait_outside);
	const pid_t other = fork();
	if (other == 0) {
		victim_pause_us(150000);
		_exit(memory_write(&scene.victim.memory, (uintptr_t)&slots[0].in_flight, &two, sizeof two) != 0);
	}
	CHECK_EQ(leak_forget(&scene.target, &frames), -EAGAIN);
	waitpid(other, NULL, 0);
	CHECK_EQ(memory_read(&scene.victim.memory, (uintptr_t)slots, &slot, sizeof slot), 0);
	CHECK_EQ(slot.in_flight, 2);
	scene_close(&scene);
}

UNIT_TEST(a_thread_that_does_not_stop_is_not_told)
{
	struct scene scene;
	scene_open(&scene, wait_outside);
	struct tracee tracee; /* held by this thread, it cannot be held by another */
	CHECK_EQ(tracee_stop(&tracee, scene.victim.pid, scene.victim.pid, 1000), 0);
	uint64_t frames = 77;
	CHECK_EQ(leak_forget(&scene.target, &frames), -EAGAIN);
	CHECK_EQ(tracee_detach(&tracee), 0);
	check_forgotten(&scene);
	scene_close(&scene);
}

UNIT_MAIN()
