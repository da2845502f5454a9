/* SPDX-License-Identifier: MIT */
/*
 * inside.h - a child with a thread that stands where the test wants it, for tests of quiesce and
 * leak. The gate and the payload are only said to be: any code will do.
 */
#ifndef HI_INSIDE_H
#define HI_INSIDE_H

#include <pthread.h>
#include <sys/syscall.h>

#include "hi_wire.h"
#include "quiesce.h"
#include "victim.h"

#define GATE 0x7123456000ull
#define ORIGINAL 0x7fff00001000ull

/* All code of this section is "the payload"; the linker names its bounds. */
#define FAKE_PAYLOAD __attribute__((section("fake_payload"), noinline))
extern const char __start_fake_payload[], __stop_fake_payload[];

/* words of the page: the thread is to stay where it is while 1; its tid; 1 when it has gone on */
enum { STAY = 0, TID, LEFT };

static struct hi_thread_table table; /* the child's copy is what is read */

FAKE_PAYLOAD static void wait_inside(struct victim_page *page)
{
	page->answered = 1;
	while (page->word[STAY])
		victim_pause_us(20000); /* the pc is in libc, and the way back leads through here */
	__asm__ volatile("");
}

static inline void *wait_elsewhere(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void (*stay)(struct victim_page *page);

static inline void *stay_somewhere(void *context)
{
	struct victim_page *page = context;
	page->word[TID] = (uint64_t)syscall(SYS_gettid);
	stay(page);
	page->word[LEFT] = 1;
	return wait_elsewhere(NULL);
}

static inline void three_threads(struct victim_page *page)
{
	pthread_t thread;
	page->word[STAY] = 1;
	pthread_create(&thread, NULL, wait_elsewhere, NULL);
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
	struct escaped_target escaped;
	struct stackwalker *walker; /* also the target's, which a test may take away */
	struct quiesce_target target;
};

/* As if a thread had claimed the slot, and its calls were inside. */
static inline void say_in_flight(struct victim *victim, size_t slot, uint32_t count)
{
	const size_t page = slot / HI_SLOTS_A_PAGE;
	uint64_t claimed = 0;
	CHECK_EQ(memory_read_u64(&victim->memory, (uintptr_t)&table.claimed[page / 64], &claimed),
		 0);
	CHECK_EQ(memory_write_u64(&victim->memory, (uintptr_t)&table.claimed[page / 64],
				  claimed | 1ull << page % 64),
		 0);
	CHECK_EQ(memory_write(&victim->memory, (uintptr_t)&table.slot[slot].in_flight, &count,
			      sizeof(count)),
		 0);
}

/* where: sets page->answered once it is where it means to stay. */
static inline void scene_open(struct scene *scene, void (*where)(struct victim_page *page))
{
	*scene = (struct scene){0};
	stay = where;
	victim_start(&scene->victim, three_threads);
	CHECK_EQ(elf_images_read(scene->victim.pid, &scene->victim.maps, &scene->victim.memory,
				 &scene->images),
		 0);
	CHECK_EQ(stackwalker_open(scene->victim.pid, &scene->images, &scene->walker), 0);
	scene->escaped = (struct escaped_target){
		.pid = scene->victim.pid,
		.memory = &scene->victim.memory,
		.gate = GATE,
		.gate_count = 3,
		.original = {ORIGINAL, ORIGINAL + 1, ORIGINAL + 2},
	};
	scene->target = (struct quiesce_target){
		.escaped = &scene->escaped,
		.walker = scene->walker,
		.gate_lo = GATE,
		.gate_hi = GATE + HI_GATE_BYTES,
		.payload_lo = (uintptr_t)__start_fake_payload,
		.payload_hi = (uintptr_t)__stop_fake_payload,
		.thread_slots = (uintptr_t)&table,
	};
}

static inline void scene_close(struct scene *scene)
{
	stackwalker_close(scene->walker);
	elf_images_close(&scene->images);
	victim_end(&scene->victim);
}

#endif
