/* SPDX-License-Identifier: MIT */
/*
 * stale_frames: a count without a frame is forgotten; one with a frame, a thread that cannot be
 * told, or a count that moves is not.
 */
#include "stale_frames.h"

#include <errno.h>

#include "inside.h"

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

enum { WAY_BACK = LEFT + 1 };

/* Says where it will return to. */
static void wait_with_a_way_back(struct victim_page *page)
{
	page->word[WAY_BACK] = (uintptr_t)__builtin_return_address(0);
	wait_outside(page);
	__asm__ volatile("");
}

static void counted_open(struct scene *scene, void (*where)(struct victim_page *page))
{
	const uint32_t own = 3, guests = 1, passing = 2;
	scene_open(scene, where);
	say_in_flight(&scene->victim, 0, own);
	CHECK_EQ(memory_write(&scene->victim.memory, (uintptr_t)&table.place[HI_PLACES - 1].count,
			      &guests, sizeof(guests)),
		 0);
	CHECK_EQ(memory_write(&scene->victim.memory, (uintptr_t)&table.passing, &passing,
			      sizeof(passing)),
		 0);
}

/* A thread that gets no CPU does not stop in time to be told: then another time. */
static uint64_t forget(const struct scene *scene)
{
	uint64_t frames = 0;
	int err;
	WAIT_FOR((err = stale_frames_forget(&scene->target, &frames)) != -EAGAIN);
	CHECK_EQ(err, 0);
	return frames;
}

static void check_forgotten(const struct scene *scene)
{
	static struct hi_thread_table now;
	CHECK_EQ(forget(scene), 6);
	CHECK_EQ(memory_read(&scene->victim.memory, (uintptr_t)&table, &now, sizeof(now)), 0);
	CHECK_EQ(now.slot[0].in_flight, 0);
	CHECK_EQ(now.place[HI_PLACES - 1].count, 0);
	CHECK_EQ(now.passing, 0);
	CHECK_EQ(forget(scene), 0);
	victim_check(&scene->victim);
}

static void check_kept(const struct scene *scene)
{
	struct hi_thread_slot slot;
	uint64_t frames = 77;
	CHECK_EQ(stale_frames_forget(&scene->target, &frames), -EAGAIN);
	CHECK_EQ(frames, 77);
	CHECK_EQ(memory_read(&scene->victim.memory, (uintptr_t)&table.slot[0], &slot, sizeof(slot)),
		 0);
	CHECK_EQ(slot.in_flight, 3);
	victim_check(&scene->victim);
}

UNIT_TEST(a_count_without_a_frame_is_forgotten)
{
	struct scene scene;
	counted_open(&scene, wait_outside);
	check_forgotten(&scene);
	scene_close(&scene);
}

UNIT_TEST(a_count_is_kept_while_a_frame_is_there)
{
	struct scene scene;
	counted_open(&scene, wait_inside);
	check_kept(&scene);
	scene.target.walker = NULL; /* its stack shows it, too */
	check_kept(&scene);
	scene.victim.page->word[STAY] = 0;
	WAIT_FOR(scene.victim.page->word[LEFT]);
	scene.target.walker = scene.walker;
	check_forgotten(&scene);
	scene_close(&scene);
}

/*
 * As an original does that a hook has called: its way back leads through code of the program's own,
 * and from there into the payload.
 */
UNIT_TEST(a_count_is_kept_while_somebody_will_return_to_the_gadget)
{
	struct scene scene;
	counted_open(&scene, wait_with_a_way_back);
	scene.target.return_gadget = scene.victim.page->word[WAY_BACK];
	check_kept(&scene);
	scene.target.walker = NULL;
	check_kept(&scene);
	scene.target.return_gadget++;
	check_forgotten(&scene);
	scene_close(&scene);
}

UNIT_TEST(without_a_walk_the_stack_is_searched)
{
	struct scene scene;
	counted_open(&scene, wait_outside);
	scene.target.walker = NULL;
	check_forgotten(&scene);
	scene_close(&scene);

	counted_open(&scene, wait_with_a_word);
	scene.target.walker = NULL;
	check_kept(&scene);
	/* a complete walk knows that this is nobody's way back */
	scene.target.walker = scene.walker;
	check_forgotten(&scene);
	scene_close(&scene);
}

/* Somebody comes out while the count is watched; too early or too late, if he or we get no CPU. */
static int forget_while_it_moves(const struct scene *scene)
{
	const uint32_t three = 3, two = 2;
	uint64_t frames;
	CHECK_EQ(memory_write(&scene->victim.memory, (uintptr_t)&table.slot[0].in_flight, &three,
			      sizeof(three)),
		 0);
	const pid_t other = fork();
	if (other == 0) {
		victim_pause_us(150000);
		_exit(memory_write(&scene->victim.memory, (uintptr_t)&table.slot[0].in_flight, &two,
				   sizeof(two)) != 0);
	}
	const int err = stale_frames_forget(&scene->target, &frames);
	CHECK_EQ(waitpid(other, NULL, 0), other);
	return err;
}

UNIT_TEST(a_count_that_moves_is_kept)
{
	struct scene scene;
	struct hi_thread_slot slot;
	counted_open(&scene, wait_outside);
	WAIT_FOR(forget_while_it_moves(&scene) == -EAGAIN);
	CHECK_EQ(memory_read(&scene.victim.memory, (uintptr_t)&table.slot[0], &slot, sizeof(slot)),
		 0);
	CHECK_EQ(slot.in_flight, 2);
	scene_close(&scene);
}

UNIT_TEST(a_thread_that_does_not_stop_is_not_told)
{
	struct scene scene;
	counted_open(&scene, wait_outside);
	struct tracee tracee; /* held by this thread, it cannot be held by another */
	CHECK_EQ(tracee_stop(&tracee, scene.victim.pid, scene.victim.pid, UNIT_PATIENCE_MS), 0);
	uint64_t frames = 77;
	CHECK_EQ(stale_frames_forget(&scene.target, &frames), -EAGAIN);
	CHECK_EQ(tracee_detach(&tracee), 0);
	check_forgotten(&scene);
	scene_close(&scene);
}

UNIT_MAIN()
