/* SPDX-License-Identifier: MIT */
/* frozen.c - see frozen.h. What is done while the threads are stopped begins at copy_all(). */
#include "frozen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "array_room.h"
#include "clock.h"
#include "hi_page.h"
#include "hi_units.h"
#include "hi_wire.h"
#include "hold.h"
#include "memory_limit.h"
#include "pages.h"
#include "proc_file.h"
#include "procfs.h"
#include "stop_world.h"
#include "thread_words.h"
#include "watchdog.h"

#define TRY_NS 5000000000ull
#define TRY_NAP_NS 2000000
#define ALLOWED_TIMES 3u       /* as often as that it may be tried as long as the bound is */
#define TRIES_MAX 3u           /* with more room each time */
#define PIECE_BYTES (1u << 20) /* between two looks at the clock */
#define ROOM_BYTES_MIN (1u << 20)
#define FREE_SHARE 4 / 5    /* of the memory that is available */
#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

struct taking {
	const struct memory *memory;
	const struct frozen_want *want;
	struct frozen *frozen;
	struct pages pages;
	const struct mapping *mapping; /* at hand */
	uint64_t until_ns;             /* the threads are let go by then */
	uint64_t copied_bytes, bytes;
	const struct stop_world *world;
	char obstacle[BLOCKED_TEXT]; /* a thread whose registers cannot be read */
};

/* ---- what is copied -------------------------------------------------------------------------- */

/* Memory of devices is not read: to read it may do something. */
static bool is_of_device(const struct mapping *mapping)
{
	return !strncmp(mapping->path, "/dev/", 5) && strncmp(mapping->path, "/dev/shm/", 9) &&
	       strcmp(mapping->path, "/dev/zero");
}

/* What a session of heapinject shares with the process is its own. */
static bool is_wanted(const struct taking *taking, const struct page_run *run)
{
	const struct mapping *mapping = taking->mapping;

	if (run->is_swapped || is_of_device(mapping))
		return false;
	if (mapping->shared)
		return taking->want->registers && mapping->writable &&
		       strncmp(mapping->path, ARENA_PATH, sizeof(ARENA_PATH) - 1) != 0;
	return mapping->writable || !run->is_file;
}

static int visit_all(struct taking *taking, const struct maps *maps, page_run_visit *visit)
{
	int err = 0;

	for (size_t i = 0; i < maps->count && !err; i++) {
		taking->mapping = &maps->mapping[i];
		err = pages_visit(&taking->pages, taking->mapping->lo, taking->mapping->hi, true,
				  visit, taking);
	}
	return err;
}

/* ---- room, before a thread is stopped -------------------------------------------------------- */

static int sum_up(void *context, const struct page_run *run)
{
	struct taking *taking = context;

	if (is_wanted(taking, run))
		taking->bytes += run->hi - run->lo;
	return 0;
}

static int estimate(struct taking *taking)
{
	const struct memory *memory = taking->memory;
	struct maps maps;
	int err = maps_read(memory->pid, memory->tid, &maps);

	if (err)
		return err;
	taking->bytes = 0;
	err = visit_all(taking, &maps, sum_up);
	maps_close(&maps);
	return err;
}

/* Memory that may be taken without pushing out others. */
static uint64_t available_bytes(void)
{
	const struct memory_limit own = memory_limit_of(getpid(), gettid());
	const uint64_t left = own.limit > own.used ? own.limit - own.used : 0;
	unsigned long long kilobytes = 0;
	char line[128];
	FILE *file = fopen("/proc/meminfo", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu", &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	const uint64_t available = kilobytes << 10;

	return (own.limit && left < available ? left : available) * FREE_SHARE;
}

/* Touched, too: a page fault takes longer than the copy of a page. */
static int make_room(struct frozen *frozen, size_t bytes)
{
	if (frozen->room)
		munmap(frozen->room, frozen->room_bytes);
	frozen->room = NULL;
	void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		return -ENOMEM;
	frozen->room = room;
	frozen->room_bytes = bytes;
	/* a child would share it, and each page be copied once more when it is written */
	(void)madvise(room, bytes, MADV_DONTFORK);
	(void)madvise(room, bytes, MADV_HUGEPAGE);
	if (madvise(room, bytes, MADV_POPULATE_WRITE))
		memset(room, 0, bytes);
	return 0;
}

static int prepare(struct taking *taking, unsigned try)
{
	struct frozen *frozen = taking->frozen;
	char need[HI_UNITS_TEXT_MAX], have[HI_UNITS_TEXT_MAX];
	const int err = estimate(taking);

	if (err)
		return err;
	const uint64_t bytes =
		(taking->bytes + (taking->bytes >> (5 - try)) + (ROOM_BYTES_MIN << (4 * try))) /
		hi_page_bytes() * hi_page_bytes();
	const uint64_t available = available_bytes();

	if (bytes > available) {
		snprintf(frozen->why, sizeof(frozen->why),
			 "to copy it takes %s of memory, of which %s are free for that: look "
			 "without --freeze",
			 hi_format_bytes((double)bytes, need, sizeof(need)),
			 hi_format_bytes((double)available, have, sizeof(have)));
		return -E2BIG;
	}
	return make_room(frozen, bytes);
}

/* ---- while the threads are stopped ----------------------------------------------------------- */

static int check_time(const struct taking *taking)
{
	hold_progress();
	return clock_now_ns() >= taking->until_ns ? -ETIME : 0;
}

static int copy_bytes(struct taking *taking, const struct page_run *run)
{
	struct frozen *frozen = taking->frozen;
	int err = run->hi - run->lo > frozen->room_bytes - frozen->used ? -ENOSPC : 0;

	for (remote_addr at = run->lo; at < run->hi && !err; at += PIECE_BYTES) {
		const size_t size = run->hi - at < PIECE_BYTES ? run->hi - at : PIECE_BYTES;

		err = memory_read_much(taking->memory, at, frozen->room + frozen->used, size);
		frozen->used += err ? 0 : size;
		taking->copied_bytes = frozen->used;
		if (!err)
			err = check_time(taking);
	}
	return err;
}

static int take_run(void *context, const struct page_run *run)
{
	struct taking *taking = context;
	struct frozen *frozen = taking->frozen;
	struct memory_copy *copy = &frozen->copy;
	const size_t begin = frozen->used;
	int err = array_make_room((void **)&copy->run, copy->count, &copy->room, sizeof(*copy->run),
				  1);

	if (err)
		return err;
	struct copied_run *taken = &copy->run[copy->count++];

	*taken = (struct copied_run){.lo = run->lo,
				     .hi = run->hi,
				     .is_swapped = run->is_swapped,
				     .is_file = run->is_file,
				     .is_huge = run->is_huge};
	frozen->has_swapped |= run->is_swapped;
	if (!is_wanted(taking, run))
		return check_time(taking);
	err = copy_bytes(taking, run);
	if (err == -EFAULT) { /* the kernel's own pages */
		frozen->used = begin;
		return 0;
	}
	taken->byte = frozen->room + begin;
	return err;
}

static int add_registers(struct frozen *frozen, const struct thread_words *words)
{
	const size_t bytes = words->count * sizeof(*words->word);
	const size_t size = frozen->registers_bytes + bytes;
	uint8_t *grown = realloc(frozen->registers,
				 (size + hi_page_bytes() - 1) / hi_page_bytes() * hi_page_bytes());

	if (!grown)
		return -ENOMEM;
	memcpy(grown + frozen->registers_bytes, words->word, bytes);
	frozen->registers = grown;
	frozen->registers_bytes = size;
	return 0;
}

/* A thread that counts as stopped while the kernel does something for it has no registers to read.
 */
static int take_thread(struct taking *taking, const struct tracee *tracee)
{
	struct memory_copy *copy = &taking->frozen->copy;
	struct stack_pointer *thread = &copy->thread[copy->threads];
	struct thread_words words;
	struct arch_regs regs = {0};
	struct proc_syscall call;

	*thread = (struct stack_pointer){.tid = tracee->tid};
	if (tracee->state != TRACEE_STOPPED && taking->want->registers) {
		blocked_explain(tracee->pid, tracee->tid, taking->obstacle);
		return -EBUSY;
	}
	copy->threads++;
	if (tracee->state != TRACEE_STOPPED) {
		if (!proc_syscall_read(tracee->pid, tracee->tid, &call) && !call.running)
			thread->sp = call.sp;
		return 0;
	}
	int err = thread_words_read(tracee, &regs, &words);
	if (err)
		return err == -ESRCH ? 0 : err;
	thread->sp = words.sp;
	err = taking->want->registers ? add_registers(taking->frozen, &words) : 0;
	thread_words_close(&words);
	return err;
}

static int take_threads(struct taking *taking)
{
	const struct stop_world *world = taking->world;
	struct memory_copy *copy = &taking->frozen->copy;
	int err = 0;

	copy->thread = calloc(world->count + 1, sizeof(*copy->thread));
	if (!copy->thread)
		return -ENOMEM;
	for (size_t i = 0; i < world->count && !err; i++)
		err = take_thread(taking, &world->tracee[i]);
	return err;
}

static int copy_all(struct taking *taking)
{
	const struct memory *memory = taking->memory;
	struct memory_copy *copy = &taking->frozen->copy;
	struct maps maps = {0};
	int err = take_threads(taking);

	if (!err)
		err = proc_file_read(memory->pid, memory->tid, "maps", &copy->maps,
				     &copy->maps_size);
	if (!err && taking->want->smaps)
		err = proc_file_read(memory->pid, memory->tid, "smaps", &copy->smaps,
				     &copy->smaps_size);
	if (!err)
		err = maps_parse(copy->maps, copy->maps_size, &maps);
	if (!err)
		err = visit_all(taking, &maps, take_run);
	maps_close(&maps);
	return err;
}

static int run_stopped(void *context)
{
	struct taking *taking = context;
	const uint64_t bound_ns = taking->want->bound_ns;
	struct stop_world world;
	int err =
		stop_world_begin_within(&world, taking->memory->pid, STOP_WORLD_LOOK, bound_ns / 2);
	if (err)
		return err;
	taking->world = &world;
	/* the rest is for letting go */
	taking->until_ns = world.since_ns + bound_ns - bound_ns / 16;
	err = copy_all(taking);
	struct frozen *frozen = taking->frozen;
	const int ended = stop_world_end(&world, &frozen->copy.held_ns);

	frozen->held_times++;
	if (frozen->copy.held_ns > frozen->held_ns)
		frozen->held_ns = frozen->copy.held_ns;
	return err ? err : ended;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* The kernel's own mapping at the very end of the addresses is the only one behind it. */
static int add_registers_mapping(struct frozen *frozen)
{
	struct memory_copy *copy = &frozen->copy;
	const uint64_t lo = MEMORY_COPY_REGISTERS;
	const size_t used = frozen->registers_bytes;
	const uint64_t hi = lo + (used + hi_page_bytes() - 1) / hi_page_bytes() * hi_page_bytes();
	char line[128];
	int err = array_make_room((void **)&copy->run, copy->count, &copy->room, sizeof(*copy->run),
				  1);
	const char *behind = strstr(copy->maps, "\nffffffff");
	const size_t before = behind ? (size_t)(behind + 1 - copy->maps) : copy->maps_size;
	const size_t size =
		(size_t)snprintf(line, sizeof(line),
				 "%llx-%llx rw-p 00000000 00:00 0 " MEMORY_COPY_REGISTERS_NAME "\n",
				 (unsigned long long)lo, (unsigned long long)hi);
	char *maps = err ? NULL : malloc(copy->maps_size + size + 1);

	if (!maps)
		return -ENOMEM;
	memset(frozen->registers + used, 0, hi - lo - used);
	size_t at = copy->count++;
	for (; at && copy->run[at - 1].lo > lo; at--)
		copy->run[at] = copy->run[at - 1];
	copy->run[at] = (struct copied_run){.lo = lo, .hi = hi, .byte = frozen->registers};
	memcpy(maps, copy->maps, before);
	memcpy(maps + before, line, size);
	memcpy(maps + before + size, copy->maps + before, copy->maps_size - before + 1);
	free(copy->maps);
	copy->maps = maps;
	copy->maps_size += size;
	return 0;
}

static void empty(struct frozen *frozen)
{
	struct memory_copy *copy = &frozen->copy;

	free(copy->run);
	free(copy->maps);
	free(copy->smaps);
	free(copy->thread);
	free(frozen->registers);
	*copy = (struct memory_copy){0};
	frozen->registers = NULL;
	frozen->registers_bytes = frozen->used = 0;
	frozen->has_swapped = false;
}

static int take_until(struct taking *taking, uint64_t give_up_ns)
{
	const struct timespec nap = {.tv_nsec = TRY_NAP_NS};
	int err;

	do {
		empty(taking->frozen);
		err = tracee_worker(run_stopped, taking);
		if (err == -EAGAIN || err == -EBUSY)
			nanosleep(&nap, NULL);
	} while ((err == -EAGAIN || err == -EBUSY) && clock_now_ns() < give_up_ns);
	return err == -EAGAIN ? -EBUSY : err;
}

static void explain(const struct taking *taking, int err)
{
	struct frozen *frozen = taking->frozen;
	const struct stop_world_account account = stop_world_account();
	char copied[HI_UNITS_TEXT_MAX], bytes[HI_UNITS_TEXT_MAX];

	if (err == -EBUSY)
		snprintf(frozen->why, sizeof(frozen->why),
			 "its threads could not all be stopped at once within %.0f s: %s",
			 (double)TRY_NS / 1e9,
			 *taking->obstacle   ? taking->obstacle
			 : *account.obstacle ? account.obstacle
					     : "another program traces one");
	if (err == -ETIME)
		snprintf(frozen->why, sizeof(frozen->why),
			 "its threads were let go after %.1f ms, when %s of %s were copied: it "
			 "takes --freeze %.0fms or so, or a look without",
			 (double)frozen->copy.held_ns / 1e6,
			 hi_format_bytes((double)taking->copied_bytes, copied, sizeof(copied)),
			 hi_format_bytes((double)taking->bytes, bytes, sizeof(bytes)),
			 1.5 * (double)frozen->copy.held_ns / 1e6 *
					 (double)(taking->bytes + PIECE_BYTES) /
					 (double)(taking->copied_bytes + PIECE_BYTES) +
				 10);
}

int frozen_take(const struct memory *memory, const struct frozen_want *want, struct frozen *frozen)
{
	struct taking taking = {.memory = memory, .want = want, .frozen = frozen};
	const uint64_t give_up_ns = clock_now_ns() + TRY_NS;
	int err = -ENOSPC;

	frozen->why[0] = 0;
	stop_world_allow((int)(ALLOWED_TIMES * want->bound_ns / 1000000));
	pages_open(&taking.pages, memory->pid, memory->tid);
	/* it may have grown since its size was read */
	for (unsigned try = 0; try < TRIES_MAX && err == -ENOSPC; try++) {
		err = prepare(&taking, try);
		if (!err)
			err = take_until(&taking, give_up_ns);
	}
	pages_close(&taking.pages);
	if (!err && want->registers)
		err = add_registers_mapping(frozen);
	explain(&taking, err);
	frozen->copy.held_times = frozen->held_times;
	frozen->copy.held_ns = frozen->held_ns;
	/* the caller may be about to give up its rights */
	watchdog_stop();
	return err == -ENOSPC ? -ENOMEM : err;
}

void frozen_close(struct frozen *frozen)
{
	empty(frozen);
	if (frozen->room)
		munmap(frozen->room, frozen->room_bytes);
	*frozen = (struct frozen){0};
}
