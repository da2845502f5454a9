/* SPDX-License-Identifier: MIT */
/*
 * healthy_times.c - what grows for a while, and is freed again or ends to grow: waves, batches,
 * late initialization, queues, generations.
 */
#include "programs.h"

#define BLOCKS_MAX 200000

/* What is collected and freed together. */
struct pile {
	void *block[BLOCKS_MAX];
	size_t count;
};

static struct pile pile;

static void pile_add(struct pile *to, void *block)
{
	if (to->count == BLOCKS_MAX)
		abort();
	to->block[to->count++] = block;
}

static void pile_free(struct pile *of, size_t until)
{
	while (of->count > until)
		free(of->block[--of->count]);
}

static SITE void *collected_row(void)
{
	const size_t size = 500 + random_below(1000);
	void *block = filled(malloc(size), size);

	USE(block);
	return block;
}

static void sawtooth(double period)
{
	if (is_time(period))
		pile_free(&pile, 0);
	for (unsigned i = due(2000); i; i--)
		pile_add(&pile, collected_row());
}

static void sawtooth_5s(void)
{
	sawtooth(5);
}

static void sawtooth_10s(void)
{
	sawtooth(10);
}

static void sawtooth_20s(void)
{
	sawtooth(20);
}

static SITE void *batch_record(void)
{
	void *block = filled(malloc(1200), 1200);

	USE(block);
	return block;
}

/* Two seconds to load, three to use it, and nothing until the next. */
static void batch_jobs(void)
{
	const double at = seconds() - 8 * (int)(seconds() / 8);

	for (unsigned i = at < 2 ? due(10000) : 0; i; i--)
		pile_add(&pile, batch_record());
	if (at >= 5)
		pile_free(&pile, 0);
}

static SITE void *late_block(void)
{
	void *block = filled(malloc(10000), 10000);

	USE(block);
	return block;
}

static void late_table(void)
{
	for (unsigned i = is_time(25) && seconds() < 26 ? 5000 : 0; i; i--)
		pile_add(&pile, late_block());
}

static void late_steps(void)
{
	for (unsigned i = seconds() > 20 && seconds() < 30 ? due(500) : 0; i; i--)
		pile_add(&pile, late_block());
}

static SITE void *queued_item(void)
{
	void *block = filled(malloc(2000), 2000);

	USE(block);
	return block;
}

/* First in, first out; its length is a random walk of steps of a tenth of a second. */
static void random_walk(void)
{
	enum { ROOM = 16384 };
	static void *queue[ROOM];
	static size_t first, end, wanted = 4000;

	if (is_time(0.1)) {
		wanted += (size_t)random_below(401);
		wanted = wanted < 300 ? 100 : wanted - 200;
		wanted = wanted > 12000 ? 12000 : wanted;
	}
	for (unsigned i = due(2000); i; i--) {
		queue[end++ % ROOM] = queued_item();
		while (end - first > wanted)
			free(queue[first++ % ROOM]);
	}
}

static SITE void *status_line(void)
{
	void *block = filled(malloc(150), 150);

	USE(block);
	return block;
}

static void idle(void)
{
	if (is_time(1))
		free(status_line());
}

static void heavy_churn(void)
{
	churn(500e6);
}

static SITE void *tide_block(void)
{
	void *block = filled(malloc(1500), 1500);

	USE(block);
	return block;
}

static void grows_and_shrinks(void)
{
	const double now = seconds();
	const size_t wanted = (size_t)(now < 30 ? now * 1000 : now < 60 ? (60 - now) * 1000 : 0);

	while (pile.count < wanted)
		pile_add(&pile, tide_block());
	pile_free(&pile, wanted);
}

/* Up and down every 30 s, between a third and the whole. */
static void tides(void)
{
	const double at = seconds() / 30 - (int)(seconds() / 30);
	const double part = at < 0.5 ? 2 * at : 2 - 2 * at;
	const size_t wanted = (size_t)(7000 + 14000 * part);

	while (pile.count < wanted)
		pile_add(&pile, tide_block());
	pile_free(&pile, wanted);
	for (unsigned i = due(1000); i && pile.count; i--) {
		void **at_random = &pile.block[random_below((uint32_t)pile.count)];

		free(*at_random);
		*at_random = tide_block();
	}
}

static SITE void *task_result(void)
{
	const size_t size = 1000 + random_below(10000);
	void *block = filled(malloc(size), 1000);

	USE(block);
	return block;
}

static SITE char *thread_buffer(char *buffer, size_t size)
{
	char *grown = realloc(buffer, size);

	USE(filled(grown, size));
	return grown;
}

/* A buffer is as large as the largest task of its thread was. */
static void work_on_tasks(void)
{
	static _Thread_local void *results[16];
	static _Thread_local char *buffer;
	static _Thread_local size_t size;

	for (unsigned i = due(100); i; i--) {
		const size_t needed = 200000 + random_below(200000);
		void **at = &results[random_below(LENGTH(results))];

		if (needed > size)
			buffer = thread_buffer(buffer, size = needed);
		free(*at);
		*at = task_result();
	}
}

static void start_pool(void)
{
	for (int i = 0; i < 8; i++)
		start_ticking(work_on_tasks);
}

static SITE void *resized(void *block, size_t size)
{
	char *moved = realloc(block, size);

	USE(filled(moved, 1000));
	return moved;
}

static void ping_pong(void)
{
	static void *buffers[100];
	const size_t at = random_below(LENGTH(buffers));

	for (unsigned i = due(500); i; i--)
		buffers[(at + i) % LENGTH(buffers)] =
			resized(buffers[(at + i) % LENGTH(buffers)], 1000 + random_below(200000));
}

static SITE void *frame_object(void)
{
	const size_t size = 200 + random_below(800);
	void *block = filled(malloc(size), size);

	USE(block);
	return block;
}

/* One is built while the other is shown, for two seconds each. */
static void double_buffer(void)
{
	static struct pile scenes[2];
	static unsigned built;

	if (is_time(2)) {
		built = !built;
		pile_free(&scenes[built], 0);
	}
	for (unsigned i = due(5000); i; i--)
		pile_add(&scenes[built], frame_object());
}

static SITE void *old_object(void)
{
	void *block = filled(malloc(900), 900);

	USE(block);
	return block;
}

/* What survives is copied to the old generation, which is replaced every 15 s. */
static void generations(void)
{
	static struct pile young, old;

	if (is_time(15))
		pile_free(&old, 0);
	if (is_time(0.5))
		pile_free(&young, 0);
	for (unsigned i = due(10000); i; i--)
		pile_add(&young, frame_object());
	for (unsigned i = due(1000); i; i--)
		pile_add(&old, old_object());
}

const struct program healthy_times[] = {
	{"sawtooth_5s", "", 50, 5, NULL, sawtooth_5s, "grows by 2 MB a second, freed every 5 s"},
	{"sawtooth_10s", "", 50, 5, NULL, sawtooth_10s, "the same, freed every 10 s"},
	{"sawtooth_20s", "", 20, 1, NULL, sawtooth_20s, "the same, freed every 20 s"},
	{"batch_jobs", "", 50, 5, NULL, batch_jobs, "a batch of 24 MB every 8 s, used for 5 s"},
	{"late_table", "", 50, 5, NULL, late_table, "50 MB at second 25, at once"},
	{"late_steps", "", 500, 10, NULL, late_steps, "50 MB between second 20 and second 30"},
	{"random_walk", "", 50, 5, NULL, random_walk,
	 "a queue whose length is a random walk, up to 24 MB"},
	{"idle", "", 1, 0, NULL, idle, "hardly allocates"},
	{"heavy_churn", "", 0, 0, NULL, heavy_churn, "500 MB a second that are freed at once"},
	{"grows_and_shrinks", "", 50, 5, NULL, grows_and_shrinks,
	 "up to 45 MB for 30 s, down for 30 s"},
	{"tides", "", 50, 20, NULL, tides, "10 to 30 MB and back in 30 s, and turns over"},
	{"thread_pool", "", 20, 3, start_pool, NULL,
	 "eight threads, whose buffers are as large as their largest task was"},
	{"ping_pong", "", 50, 5, NULL, ping_pong, "100 buffers that grow and shrink, by realloc"},
	{"double_buffer", "", 20, 5, NULL, double_buffer,
	 "one scene is built while the other is shown, 2 s each"},
	{"generations", "", 20, 5, NULL, generations,
	 "an old generation that is replaced every 15 s"},
	{0},
};
