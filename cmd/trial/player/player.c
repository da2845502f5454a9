/* SPDX-License-Identifier: MIT */
/*
 * player.c - makes the allocations and frees of a list (hi_trial.h) with the allocator that was
 * preloaded into it, and measures the resident memory of the heap.
 *
 * It is a program of its own, linked to libc alone and embedded in the command: an allocator can
 * only be exchanged at the start of a program, and nothing but the blocks must come from it. What
 * the player needs for itself is one mapping with guard pages around, so that no mapping of the
 * allocator is merged with it: /proc/self/smaps then tells which memory is whose.
 *
 * One thread at a time has the turn, and all that is shared belongs to it. It makes events until
 * one is of another thread, which gets the turn. So the events keep their order, and yet each runs
 * on a thread of its own, as arenas and caches of allocators depend on that.
 *
 * What allocators do after a time depends on the clock. The program's clock_gettime() takes the
 * place of libc's for them, and says what time it was in the recording.
 *
 * player LIST REPORTS MEMORY: two descriptors, and how many bytes may be resident. Start at main().
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hi_page.h"
#include "hi_trial.h"

#define BATCH_EVENTS 8192u
#define STACK_BYTES (256u << 10)
#define TEXT_BYTES (1u << 16) /* of /proc; lines are shorter */
#define PAGE_BYTES hi_page_bytes()
#define REPORT_EVERY_NS 100000000u
#define SPINS 2000u     /* about as long as it takes to wake a thread */
#define LEAST_BYTES 32u /* of a block, for the limit */

enum { WAITS, GOES, SLEEPS };

struct block {
	char *at;
	uint64_t bytes;
};

static struct player {
	int list, reports;
	uint64_t memory_max;
	struct hi_trial_head head;
	struct hi_trial_report report;
	/* the mapping of its own, and what is in it */
	char *own;
	size_t own_bytes;
	struct block *block;
	struct hi_trial_event *batch;
	char *text, *stack;
	size_t batch_count, batch_next;
	uint64_t taken; /* events that were read from the list */
	uint64_t live_bytes;
	uint64_t begun_ns, reported_ns;
	uint64_t recorded_ns; /* of the recording, now */
	bool is_over;
	uint32_t turn[HI_TRIAL_THREADS_MAX];
} player;

/* ---- reports --------------------------------------------------------------------------------- */

/* For the allocator. It may ask before main(). */
int clock_gettime(clockid_t clock, struct timespec *out_time)
{
	static const uint64_t since_boot_ns = 1000000000000u;
	const uint64_t now_ns =
		since_boot_ns + __atomic_load_n(&player.recorded_ns, __ATOMIC_RELAXED);

	if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
		return (int)syscall(SYS_clock_gettime, clock, out_time);
	out_time->tv_sec = (time_t)(now_ns / 1000000000u);
	out_time->tv_nsec = (long)(now_ns % 1000000000u);
	return 0;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time = {0};

	(void)syscall(SYS_clock_gettime, clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void send_report(enum hi_trial_state state)
{
	player.report.state = state;
	(void)!write(player.reports, &player.report, sizeof(player.report));
}

_Noreturn static void give_up(enum hi_trial_state state, int err)
{
	player.report.err = err;
	send_report(state);
	_exit(1);
}

/* ---- resident memory ------------------------------------------------------------------------- */

/* A part of a file of /proc, after `kept` bytes of the part before; terminated. */
static size_t read_on(int fd, size_t kept)
{
	const ssize_t got = read(fd, player.text + kept, TEXT_BYTES - 1 - kept);
	const size_t size = kept + (got > 0 ? (size_t)got : 0);

	player.text[size] = 0;
	return got > 0 ? size : 0;
}

/* "VmHWM:	  1234 kB", as bytes; 0: there is no such line. */
static uint64_t field_of(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? strtoull(line + strlen(name), NULL, 10) << 10 : 0;
}

static int open_proc(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		give_up(HI_TRIAL_FAILED, errno);
	return fd;
}

static void read_status(uint64_t *out_high, uint64_t *out_files)
{
	const int fd = open_proc("/proc/self/status");

	(void)read_on(fd, 0);
	close(fd);
	*out_high = field_of(player.text, "VmHWM:");
	*out_files = field_of(player.text, "RssFile:") + field_of(player.text, "RssShmem:");
}

/* Anonymous memory of the allocator's mappings, and of all others. */
struct anonymous {
	uint64_t heap, other;
	bool is_heap; /* the mapping that is read now */
};

static bool is_own(uint64_t address)
{
	return address - (uint64_t)(uintptr_t)player.own < player.own_bytes;
}

/* "7f01-7f02 rw-p 00000000 00:00 0    /lib/x.so": what has a path, [stack] and ours is no heap. */
static void note_mapping(const char *line, struct anonymous *anonymous)
{
	const char *end = strchr(line, '\n');
	const char *path = end;

	while (path > line && path[-1] != ' ')
		path--;
	anonymous->is_heap = !is_own(strtoull(line, NULL, 16)) && *path != '/' &&
			     strncmp(path, "[stack", 6) != 0;
}

static void note_line(const char *line, struct anonymous *anonymous)
{
	static const char name[] = "Anonymous:";

	if ((*line >= '0' && *line <= '9') || (*line >= 'a' && *line <= 'f'))
		note_mapping(line, anonymous);
	else if (!strncmp(line, name, sizeof(name) - 1))
		*(anonymous->is_heap ? &anonymous->heap : &anonymous->other) +=
			strtoull(line + sizeof(name) - 1, NULL, 10) << 10;
}

static struct anonymous read_anonymous(void)
{
	const int fd = open_proc("/proc/self/smaps");
	struct anonymous anonymous = {0};
	size_t kept = 0, size;

	while ((size = read_on(fd, kept)) != 0) {
		char *line = player.text, *end;

		for (; (end = strchr(line, '\n')) != NULL; line = end + 1)
			note_line(line, &anonymous);
		kept = (size_t)(player.text + size - line);
		memmove(player.text, line, kept);
	}
	close(fd);
	return anonymous;
}

/* The moment of the most bytes: what the kernel counts is rounded, this is not. */
static void measure_now(uint64_t *out_bytes)
{
	const struct anonymous anonymous = read_anonymous();

	*out_bytes = anonymous.heap;
	if (anonymous.heap > player.report.peak_bytes)
		player.report.peak_bytes = anonymous.heap;
}

/*
 * The kernel keeps the highest resident size. Files are mapped more and more, and are not what is
 * measured; nor is the player's own memory, which does not change.
 */
static void measure_end(void)
{
	uint64_t high, files;
	const uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	measure_now(&player.report.final_bytes);
	const struct anonymous anonymous = read_anonymous();
	read_status(&high, &files);
	const uint64_t others = files + anonymous.other;
	if (high > others && high - others > player.report.peak_bytes)
		player.report.peak_bytes = high - others;
	player.report.cpu_ns = cpu_ns;
}

/* From here on the highest resident size counts. */
static void forget_high_mark(void)
{
	const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, "5", 1);
	close(fd);
}

static void check_memory(void)
{
	const int fd = open_proc("/proc/self/statm");
	const char *resident;

	(void)read_on(fd, 0);
	close(fd);
	resident = strchr(player.text, ' ');
	if (player.live_bytes > player.memory_max ||
	    (resident && strtoull(resident, NULL, 10) * PAGE_BYTES > player.memory_max))
		give_up(HI_TRIAL_TOO_LARGE, 0);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Writes once to each page of the block from byte `from` on. */
static void touch(const struct block *block, uint64_t from)
{
	if (!block->at || from >= block->bytes)
		return;
	char *const end = block->at + block->bytes;
	for (char *at = block->at + from; at < end;
	     at += PAGE_BYTES - ((uintptr_t)at & (PAGE_BYTES - 1)))
		*(volatile char *)at = 1;
}

static char *allocate(const struct hi_trial_event *event)
{
	void *at = NULL;

	if (event->op == HI_TRIAL_MALLOC)
		return malloc(event->bytes);
	if (event->op == HI_TRIAL_CALLOC)
		return calloc(1, event->bytes);
	return posix_memalign(&at, (size_t)1 << event->alignment_bits, event->bytes) ? NULL : at;
}

static void set_block(struct block *block, char *at, uint64_t bytes)
{
	player.live_bytes += bytes + LEAST_BYTES;
	if (player.live_bytes > player.memory_max)
		give_up(HI_TRIAL_TOO_LARGE, 0);
	*block = (struct block){.at = at, .bytes = bytes};
}

static void forget_block(struct block *block)
{
	if (block->at)
		player.live_bytes -= block->bytes + LEAST_BYTES;
	*block = (struct block){0};
}

/* Without memory a block is as if it were not there. */
static void make_alloc(struct block *block, const struct hi_trial_event *event)
{
	free(block->at);
	forget_block(block);
	char *const at = allocate(event);
	if (!at) {
		player.report.refused++;
		return;
	}
	set_block(block, at, event->bytes);
	touch(block, 0);
}

static void make_realloc(struct block *block, const struct hi_trial_event *event)
{
	const uint64_t before = block->bytes;
	/* a size of 0 frees with some allocators, and not with others */
	char *const at = realloc(block->at, event->bytes ? event->bytes : 1);

	if (!at) {
		player.report.refused++;
		return;
	}
	forget_block(block);
	set_block(block, at, event->bytes ? event->bytes : 1);
	touch(block, before);
}

static void make_event(const struct hi_trial_event *event)
{
	struct block *const block = &player.block[event->block];

	if (event->op == HI_TRIAL_FREE) {
		free(block->at);
		forget_block(block);
	} else if (event->op == HI_TRIAL_REALLOC) {
		make_realloc(block, event);
	} else if (event->op == HI_TRIAL_TIME) {
		__atomic_store_n(&player.recorded_ns, event->bytes, __ATOMIC_RELAXED);
	} else if (event->op != HI_TRIAL_NOTHING) {
		make_alloc(block, event);
	}
	if (++player.report.done == player.head.most_at) {
		uint64_t ignored;
		measure_now(&ignored);
	}
}

static bool makes_sense(const struct hi_trial_event *event)
{
	if (event->op == HI_TRIAL_TIME ? event->block != 0 : event->block >= player.head.blocks)
		return false;
	return event->thread < player.head.threads && event->op < HI_TRIAL_OPS &&
	       event->alignment_bits <= HI_TRIAL_ALIGNMENT_BITS_MAX &&
	       event->alignment_bits >= (event->op == HI_TRIAL_ALIGNED ? 3 : 0);
}

/* ---- the list -------------------------------------------------------------------------------- */

static size_t read_all(void *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const ssize_t got = read(player.list, (char *)to + done, size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/* False: there are no more events. */
static bool read_batch(void)
{
	const uint64_t rest = player.head.events - player.taken;
	const size_t count = rest < BATCH_EVENTS ? (size_t)rest : BATCH_EVENTS;
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now_ns - player.reported_ns > REPORT_EVERY_NS) {
		player.reported_ns = now_ns;
		send_report(HI_TRIAL_GOES_ON);
	}
	check_memory();
	if (read_all(player.batch, count * sizeof(*player.batch)) != count * sizeof(*player.batch))
		give_up(HI_TRIAL_FAILED, 0);
	for (size_t i = 0; i < count; i++)
		if (!makes_sense(&player.batch[i]))
			give_up(HI_TRIAL_FAILED, 0);
	player.taken += count;
	player.batch_count = count;
	player.batch_next = 0;
	return count > 0;
}

/* The next event; NULL: it was the last one. */
static const struct hi_trial_event *next_event(void)
{
	if (player.batch_next == player.batch_count && !read_batch())
		return NULL;
	return &player.batch[player.batch_next];
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void give_turn(uint32_t thread)
{
	uint32_t *const turn = &player.turn[thread];

	if (__atomic_exchange_n(turn, GOES, __ATOMIC_ACQ_REL) == SLEEPS)
		(void)syscall(SYS_futex, turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_turn(uint32_t thread)
{
	uint32_t *const turn = &player.turn[thread], waits = WAITS;

	for (unsigned i = 0; i < SPINS && __atomic_load_n(turn, __ATOMIC_ACQUIRE) != GOES; i++)
		;
	if (__atomic_compare_exchange_n(turn, &waits, SLEEPS, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) == SLEEPS)
			(void)syscall(SYS_futex, turn, FUTEX_WAIT_PRIVATE, SLEEPS, NULL, NULL, 0);
	__atomic_store_n(turn, WAITS, __ATOMIC_RELEASE);
}

/* Makes events until one is of another thread, and gives that one the turn. */
static void take_turn(uint32_t thread)
{
	const struct hi_trial_event *event;

	while ((event = next_event()) != NULL && event->thread == thread) {
		make_event(event);
		player.batch_next++;
	}
	if (event)
		give_turn(event->thread);
	else
		player.is_over = true;
}

/* The thread that makes the last event measures, while all others wait. */
static void run_thread(uint32_t thread)
{
	for (;;) {
		wait_turn(thread);
		take_turn(thread);
		if (!player.is_over)
			continue;
		player.report.wall_ns = clock_ns(CLOCK_MONOTONIC) - player.begun_ns;
		measure_end();
		send_report(HI_TRIAL_DONE);
		_exit(0);
	}
}

static void *start_thread(void *context)
{
	run_thread((uint32_t)(uintptr_t)context);
	return NULL;
}

/* ---- the start ------------------------------------------------------------------------------- */

static size_t in_pages(size_t bytes)
{
	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/* Takes a part of the own mapping. */
static char *take_own(size_t *used, size_t bytes)
{
	char *const part = player.own + *used;

	*used += in_pages(bytes);
	return part;
}

/* All of it is resident from the start, except for the stacks. */
static void map_own(void)
{
	const size_t block_bytes = (size_t)player.head.blocks * sizeof(*player.block),
		     batch_bytes = BATCH_EVENTS * sizeof(*player.batch),
		     stack_bytes = (size_t)player.head.threads * STACK_BYTES;
	size_t used = PAGE_BYTES; /* a guard page */

	player.own_bytes = in_pages(block_bytes) + in_pages(batch_bytes) + TEXT_BYTES +
			   stack_bytes + 2 * PAGE_BYTES;
	player.own = mmap(NULL, player.own_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (player.own == MAP_FAILED ||
	    mprotect(player.own + PAGE_BYTES, player.own_bytes - 2 * PAGE_BYTES,
		     PROT_READ | PROT_WRITE))
		give_up(HI_TRIAL_FAILED, errno);
	player.block = (struct block *)(void *)take_own(&used, block_bytes);
	player.batch = (struct hi_trial_event *)(void *)take_own(&used, batch_bytes);
	player.text = take_own(&used, TEXT_BYTES);
	player.stack = take_own(&used, stack_bytes);
	memset(player.block, 0, block_bytes);
	for (size_t at = 0; at < block_bytes; at += PAGE_BYTES)
		((volatile char *)player.block)[at] = 0;
	memset(player.batch, 1, batch_bytes);
	memset(player.text, 1, TEXT_BYTES);
}

static void start_threads(void)
{
	for (uint32_t i = 1; i < player.head.threads; i++) {
		pthread_attr_t attributes;
		pthread_t thread;
		int err = pthread_attr_init(&attributes);

		if (!err)
			err = pthread_attr_setstack(
				&attributes, player.stack + (size_t)i * STACK_BYTES, STACK_BYTES);
		if (!err)
			err = pthread_create(&thread, &attributes, start_thread,
					     (void *)(uintptr_t)i);
		if (err)
			give_up(HI_TRIAL_FAILED, err);
		(void)pthread_attr_destroy(&attributes);
	}
}

static void read_head(void)
{
	const struct hi_trial_head *head = &player.head;

	if (read_all(&player.head, sizeof(player.head)) != sizeof(player.head) ||
	    head->magic != HI_TRIAL_MAGIC || head->events > HI_TRIAL_EVENTS_MAX ||
	    head->blocks > HI_TRIAL_BLOCKS_MAX || !head->threads ||
	    head->threads > HI_TRIAL_THREADS_MAX)
		give_up(HI_TRIAL_FAILED, 0);
	if ((uint64_t)head->blocks * sizeof(*player.block) > player.memory_max)
		give_up(HI_TRIAL_TOO_LARGE, 0);
}

/* Which allocator it is: that of the object that has malloc. */
static void name_library(void)
{
	Dl_info info;
	void *(*const function)(size_t) = malloc;

	if (dladdr((const void *)(uintptr_t)function, &info) && info.dli_fname)
		strncpy(player.report.object, info.dli_fname, sizeof(player.report.object) - 1);
	send_report(HI_TRIAL_BEGINS);
}

int main(int argc, char **argv)
{
	player.report.magic = HI_TRIAL_MAGIC;
	if (argc != 4)
		return 2;
	player.list = atoi(argv[1]);
	player.reports = atoi(argv[2]);
	player.memory_max = strtoull(argv[3], NULL, 10);
	read_head();
	name_library();
	map_own();
	start_threads();
	forget_high_mark();
	player.begun_ns = player.reported_ns = clock_ns(CLOCK_MONOTONIC);
	give_turn(0);
	run_thread(0);
}
