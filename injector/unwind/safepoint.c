/* SPDX-License-Identifier: MIT */
/*
 * safepoint.c - which code a thread must not be in when dlopen is run on it, and how to find a
 * thread that is not in such code.
 *
 * Code is unsafe if it may hold a lock that dlopen takes, or may leave the heap or the list of
 * objects half changed; so is everything called from it. Names are not enough: memalign and related
 * functions jump into static functions of malloc.o, so that no frame carries an exported name.
 * Hence the rules are address ranges, wide on the safe side. Enter at safepoint_find.
 */
#include "safepoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "borrow.h"
#include "clock.h"
#include "elf_symbols.h"
#include "link_map.h"

struct range {
	remote_addr lo, hi;
};

struct safepoint_rules {
	const struct elf_images *images;
	const struct memory *memory;
	struct range *range;
	size_t count, capacity;
};

/* ---- what is unsafe -------------------------------------------------------------------------- */

/*
 * All of glibc's malloc.o, static functions included: it begins less than MALLOC_BEFORE bytes
 * before malloc, behind the functions of threads and timers that lie there, and ends less than
 * MALLOC_AFTER bytes after the start of malloc_info, its last function (glibc 2.28 to 2.43). Of
 * those bytes no more are taken than must be: in 2.43 they hold the function in which threads sleep
 * in system calls.
 */
#define MALLOC_BEFORE 0x8000
#define MALLOC_AFTER 0x800

/*
 * These hold locks of the dynamic linker, of the exit handlers, of all arenas (fork), or call back
 * with such locks held.
 */
static const char *const unsafe_functions[] = {
	"dlopen",
	"dlmopen",
	"dlclose",
	"dlsym",
	"dlvsym",
	"dladdr",
	"dladdr1",
	"dlinfo",
	"dlerror",
	"dl_iterate_phdr",
	"__libc_dlopen_mode",
	"__libc_dlclose",
	"__libc_dlsym",
	"fork",
	"_Fork",
	"__libc_fork",
	"vfork",
	"__libc_vfork",
	"daemon",
	"forkpty",
	"posix_spawn",
	"posix_spawnp",
	"system",
	"popen",
	"wordexp",
	"exit",
	"_exit",
	"quick_exit",
	"abort",
	"on_exit",
	"at_quick_exit",
	"__cxa_atexit",
	"__cxa_at_quick_exit",
	"__cxa_finalize",
	"__cxa_thread_atexit_impl",
	"__register_atfork",
	"pthread_atfork",
	"pthread_create",
	"pthread_exit",
	"thrd_create",
	"thrd_exit",
	"__tls_get_addr",
};

static int add_range(struct safepoint_rules *rules, remote_addr lo, remote_addr hi)
{
	if (rules->count == rules->capacity) {
		size_t capacity = rules->capacity ? rules->capacity * 2 : 64;
		struct range *grown = reallocarray(rules->range, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		rules->range = grown;
		rules->capacity = capacity;
	}
	rules->range[rules->count++] = (struct range){lo, hi};
	return 0;
}

static int add_functions(struct safepoint_rules *rules, const struct elf_image *image)
{
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(unsafe_functions) / sizeof(unsafe_functions[0]) && !err; i++) {
		remote_addr address;
		uint64_t size;

		if (elf_image_symbol(image, unsafe_functions[i], &address, &size) == 0)
			err = add_range(rules, address, address + size);
	}
	return err;
}

/* What begins like this is in no malloc.o. */
static const char *const other_functions[] = {"pthread_", "timer_", "sem_", "thrd_"};

struct neighbour {
	remote_addr malloc;
	remote_addr end; /* of the last other function before malloc; 0 = none was seen */
};

static void visit_neighbour(void *context, const struct elf_function *function)
{
	struct neighbour *neighbour = context;
	const remote_addr end = function->address + function->size;

	if (!function->is_exported || end < function->address || end > neighbour->malloc ||
	    end <= neighbour->end)
		return;
	for (size_t i = 0; i < sizeof(other_functions) / sizeof(other_functions[0]); i++) {
		if (strncmp(function->name, other_functions[i], strlen(other_functions[i])) == 0)
			neighbour->end = end;
	}
}

static remote_addr begin_of_malloc_object(const struct elf_image *image, remote_addr malloc)
{
	struct neighbour neighbour = {.malloc = malloc};
	size_t room = ELF_SYMBOLS_BYTES_MAX;

	elf_symbols_visit(image, &room, visit_neighbour, &neighbour);
	return neighbour.end > malloc - MALLOC_BEFORE ? neighbour.end : malloc - MALLOC_BEFORE;
}

static int add_image(struct safepoint_rules *rules, const struct elf_image *image)
{
	remote_addr address, last;
	bool is_glibc = elf_image_symbol(image, "gnu_get_libc_version", &address, NULL) == 0;
	bool has_malloc = elf_image_symbol(image, "malloc", &address, NULL) == 0;
	int err = 0;

	if (image->is_loader || (has_malloc && !is_glibc))
		return add_range(rules, image->lo, image->hi);
	if (is_glibc && has_malloc) {
		if (elf_image_symbol(image, "malloc_info", &last, NULL))
			return -ENOTSUP;
		err = add_range(rules, begin_of_malloc_object(image, address), last + MALLOC_AFTER);
	}
	return err ? err : add_functions(rules, image);
}

int safepoint_rules_open(const struct elf_images *images, const struct memory *memory,
			 struct safepoint_rules **out_rules)
{
	struct safepoint_rules *rules = calloc(1, sizeof(*rules));
	size_t i;
	int err = rules ? 0 : -ENOMEM;

	if (rules) {
		rules->images = images;
		rules->memory = memory;
	}
	for (i = 0; i < images->count && !err; i++) {
		if (!images->image[i].is_vdso)
			err = add_image(rules, &images->image[i]);
	}
	if (err) {
		safepoint_rules_close(rules);
		return err;
	}
	*out_rules = rules;
	return 0;
}

void safepoint_rules_close(struct safepoint_rules *rules)
{
	if (!rules)
		return;
	free(rules->range);
	free(rules);
}

/* ---- judging one thread ---------------------------------------------------------------------- */

static bool is_unsafe(const struct safepoint_rules *rules, remote_addr pc)
{
	size_t i;

	for (i = 0; i < rules->count; i++) {
		if (pc >= rules->range[i].lo && pc < rules->range[i].hi)
			return true;
	}
	return false;
}

/* A return address may be the first byte after its function. */
static remote_addr pc_of_frame(const struct stackwalk *walk, size_t frame)
{
	return frame > 0 && !walk->is_signal[frame - 1] ? walk->pc[frame] - 1 : walk->pc[frame];
}

enum safepoint_verdict safepoint_judge(const struct safepoint_rules *rules,
				       const struct stackwalk *walk)
{
	uint64_t fingerprint;
	size_t frame;

	if (!walk->is_complete)
		return SAFEPOINT_UNKNOWN;
	for (frame = 0; frame < walk->count; frame++) {
		if (!elf_images_find(rules->images, pc_of_frame(walk, frame)))
			return SAFEPOINT_UNKNOWN;
	}
	for (frame = 0; frame < walk->count; frame++) {
		if (walk->is_signal[frame] || is_unsafe(rules, pc_of_frame(walk, frame)))
			return SAFEPOINT_UNSAFE_FRAME;
	}
	if (link_map_fingerprint(rules->memory, rules->images->r_debug, NULL, &fingerprint))
		return SAFEPOINT_LOADER_BUSY;
	return SAFEPOINT_SAFE;
}

/* ---- finding a thread ------------------------------------------------------------------------ */

/* for one thread to stop: it stops when it gets a CPU, and runs until then */
#define STOP_MS 1000

struct finder {
	pid_t pid;
	struct safepoint_rules *rules;
	struct stackwalker *walker;
	int64_t deadline_ns;
	struct stackwalk walk;
};

static int left_ms(const struct finder *finder)
{
	int64_t left = (finder->deadline_ns - (int64_t)clock_now_ns()) / 1000000;

	return left > 0 ? (int)left : 0;
}

/* 0: at a safe point. -EAGAIN: it is not, and nothing shows when it will be. */
static int look(struct finder *finder, const struct tracee *tracee)
{
	int err = stackwalk_read(finder->walker, tracee, &finder->walk);

	if (err)
		return err;
	return safepoint_judge(finder->rules, &finder->walk) == SAFEPOINT_SAFE ? 0 : -EAGAIN;
}

/* 0: the thread is at a safe point and stays stopped. Otherwise it was released. */
static int try_thread(struct finder *finder, pid_t tid, struct tracee *out_tracee)
{
	struct tracee tracee;
	int err = borrow_check(finder->pid, tid);

	if (!err)
		err = tracee_stop(&tracee, finder->pid, tid, STOP_MS);
	if (err)
		return err;
	err = look(finder, &tracee);
	if (err)
		(void)tracee_detach(&tracee);
	else
		*out_tracee = tracee;
	return err;
}

/*
 * The main thread is tried first, whatever it waits in, because it has allocated before. On a
 * thread that never has, dlopen's first malloc makes the allocator set up an arena for it, which
 * stays; with jemalloc also a background thread for that arena (seen with Debian 12's redis-server
 * when one of its idle workers was used).
 */
static void main_first(pid_t pid, pid_t *tids, size_t count)
{
	size_t i = 0;

	while (i < count && tids[i] != pid)
		i++;
	if (i == count)
		return;
	memmove(tids + 1, tids, i * sizeof(*tids));
	tids[0] = pid;
}

/* Examines each thread once. */
static int try_round(struct finder *finder, struct tracee *out_tracee)
{
	pid_t *tids;
	size_t count, i;
	int err = borrow_candidates(finder->pid, false, &tids, &count);

	if (err)
		return err;
	main_first(finder->pid, tids, count);
	err = -EAGAIN;
	for (i = 0; i < count && err && left_ms(finder); i++)
		err = try_thread(finder, tids[i], out_tracee);
	free(tids);
	return err;
}

/*
 * Waits 0.2 to 1 ms: long enough for a thread to move on, and never in step with it. Waits at least
 * as long as the round took: the injector has priority over all others while it searches, and they
 * need the CPU, too.
 */
static void pause_a_moment(int64_t round_ns)
{
	tracee_pause(200000 + (int64_t)clock_now_ns() % 800000 + round_ns);
}

int safepoint_find(pid_t pid, const struct elf_images *images, const struct memory *memory,
		   int deadline_ms, struct tracee *out_tracee)
{
	struct finder *finder = calloc(1, sizeof(*finder));
	int err;

	if (!finder)
		return -ENOMEM;
	finder->pid = pid;
	finder->deadline_ns = (int64_t)clock_now_ns() + deadline_ms * 1000000ll;
	err = safepoint_rules_open(images, memory, &finder->rules);
	if (!err)
		err = stackwalker_open(pid, images, &finder->walker);
	if (!err) {
		stackwalker_learn_ends(finder->walker);
		err = -EAGAIN;
	}
	while (finder->walker && err && left_ms(finder) && memory_is_alive(memory)) {
		const int64_t begun_ns = (int64_t)clock_now_ns();

		err = try_round(finder, out_tracee);
		if (err)
			pause_a_moment((int64_t)clock_now_ns() - begun_ns);
	}
	if (err && finder->walker)
		err = memory_is_alive(memory) ? -EAGAIN : -ESRCH;
	stackwalker_close(finder->walker);
	safepoint_rules_close(finder->rules);
	free(finder);
	return err;
}
