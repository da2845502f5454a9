/* SPDX-License-Identifier: MIT */
/*
 * loader_dlopen_test.c - the payload comes and goes by the target's own dlopen, in the worst of
 * storms, and nothing is left of it.
 *
 * The arena is played by spare memory of the target: the loader uses the far end of it as a stack,
 * and of the gate the one entry that calls do not lead to. The control block is ours here.
 */
#include "loader.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

#define CYCLES 25
#define ARENA_BYTES (1u << 20)
#define BORROW_MS 500

static _Alignas(HI_PAGE_BYTES) char spare[ARENA_BYTES];
static char *gate; /* the same in all targets, which are forks of ours */

__attribute__((constructor)) static void make_gate(void)
{
	struct payload_image payload;

	gate = mmap(NULL, (size_t)2 * HI_GATE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (gate == MAP_FAILED || payload_image_open(&payload))
		abort();
	memcpy(gate + (size_t)HI_GATE_RESTORE * HI_GATE_STRIDE, payload.gate[GATE_RESTORE].code,
	       payload.gate[GATE_RESTORE].size);
}

struct target {
	struct memory memory;
	struct maps maps;
	struct elf_images images;
	struct remote_gadgets gadgets;
	struct payload_image payload;
	struct hi_control *control;
	struct loader_target loader;
	struct remote remote;
};

static void target_open(struct target *target, pid_t pid)
{
	static struct hi_control control;

	*target = (struct target){.control = &control};
	control.arena = (uintptr_t)spare; /* the target is a fork of ours */
	control.state = (struct hi_part){.offset = 0, .size = sizeof(spare)};
	control.gate.offset = (uintptr_t)gate - (uintptr_t)spare;
	CHECK_EQ(memory_open(&target->memory, pid, pid), 0);
	CHECK_EQ(maps_read(pid, pid, &target->maps), 0);
	CHECK_EQ(elf_images_read(pid, &target->maps, &target->memory, &target->images), 0);
	CHECK_EQ(remote_gadgets_find(&target->maps, &target->memory, &target->gadgets), 0);
	CHECK_EQ(payload_image_open(&target->payload), 0);
	target->loader = (struct loader_target){
		.pid = pid,
		.memory = &target->memory,
		.maps = &target->maps,
		.images = &target->images,
		.gadgets = &target->gadgets,
		.payload = &target->payload,
		.control = &control,
		.memfd = -1,
		.arena_fd = -1,
	};
}

static void target_close(struct target *target)
{
	elf_images_close(&target->images);
	maps_close(&target->maps);
	memory_close(&target->memory);
}

/* for the cycles of one test: there may be less CPU than they want */
#define STORM_NS 5000000000ll

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* None found in time is no failure: then another time, as long as there is any. */
static void borrow(struct target *target)
{
	const int64_t end_ns = now_ns() + UNIT_PATIENCE_MS * 1000000ll;
	int err = -EAGAIN;

	while (err == -EAGAIN && now_ns() < end_ns - BORROW_MS * 1000000ll)
		err = loader_dlopen.borrow(&target->loader, &target->remote, BORROW_MS);
	if (err == -EAGAIN)
		SKIP("no thread came to a safe point in time");
	CHECK_EQ(err, 0);
}

static void load(struct target *target)
{
	borrow(target);
	CHECK_EQ(loader_dlopen.load(&target->loader, &target->remote), 0);
	CHECK_EQ(remote_close(&target->remote), 0);
}

static void unload(struct target *target)
{
	borrow(target);
	CHECK_EQ(loader_dlopen.unload(&target->loader, &target->remote), 0);
	CHECK_EQ(remote_close(&target->remote), 0);
}

/* Lines of maps that name a file, or are executable: the heap may grow. */
static size_t count_mappings(pid_t pid, const char *name)
{
	struct maps maps;
	size_t count = 0;

	CHECK_EQ(maps_read(pid, pid, &maps), 0);
	for (size_t i = 0; i < maps.count; i++)
		count += strstr(maps.mapping[i].path, name) != NULL &&
			 maps.mapping[i].path[0] == '/';
	maps_close(&maps);
	return count;
}

static size_t count_fds(pid_t pid)
{
	size_t count;

	CHECK_EQ(proc_fd_count(pid, &count), 0);
	return count;
}

static void cycle_in(void (*run)(volatile uint64_t *rounds), const char *steady)
{
	const struct storm storm = storm_start(run);
	const int64_t end_ns = now_ns() + STORM_NS;
	struct target target;

	target_open(&target, storm.pid);
	const size_t mappings = count_mappings(storm.pid, steady), fds = count_fds(storm.pid);
	for (int i = 0; i < CYCLES && now_ns() < end_ns; i++) {
		char first[4] = "";
		load(&target);
		CHECK_EQ(memory_read(&target.memory, target.control->payload_base, first, 4), 0);
		CHECK(memcmp(first, "\177ELF", 4) == 0);
		CHECK(target.control->payload_size >= target.payload.text_size);
		CHECK(count_mappings(storm.pid, LOADER_DLOPEN_MEMFD) > 0);
		CHECK_EQ(count_fds(storm.pid), fds);
		storm_check(&storm);
		unload(&target);
		CHECK_EQ(count_mappings(storm.pid, LOADER_DLOPEN_MEMFD), 0);
		CHECK_EQ(target.control->dlopen_handle, 0);
		storm_check(&storm);
	}
	CHECK_EQ(count_mappings(storm.pid, steady), mappings);
	CHECK_EQ(count_fds(storm.pid), fds);
	target_close(&target);
	storm_end(&storm);
}

UNIT_TEST(cycles_in_a_malloc_storm)
{
	cycle_in(storm_malloc, "");
}

UNIT_TEST(cycles_in_a_malloc_storm_of_two_threads)
{
	cycle_in(storm_malloc_two_threads, "");
}

UNIT_TEST(cycles_in_an_aligned_alloc_storm)
{
	cycle_in(storm_aligned_alloc, "");
}

/*
 * A safe moment is rare in such a storm: as many cycles as there is time for. The storm itself maps
 * and unmaps libutil and opens descriptors; the rest must be steady.
 */
UNIT_SLOW_TEST(survives_a_dlopen_storm)
{
	const struct storm storm = storm_start(storm_dlopen);
	struct target target;

	target_open(&target, storm.pid);
	for (int64_t end_ns = now_ns() + STORM_NS / 50; now_ns() < end_ns;) {
		load(&target);
		storm_check(&storm);
		unload(&target);
		CHECK_EQ(count_mappings(storm.pid, LOADER_DLOPEN_MEMFD), 0);
	}
	target_close(&target);
	storm_end(&storm);
}

/* Out of memory, so that dlopen's malloc fails and sets errno, which its owner watches. */
static void watch_errno_without_memory(volatile uint64_t *rounds)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_AS, &none);
	for (size_t size = 1u << 20; size; size /= 2) {
		void *volatile block; /* or else the compiler takes success for granted */
		do
			block = malloc(size);
		while (block);
	}
	volatile int *mine = &errno;
	for (;;) {
		*mine = 4711;
		for (volatile int i = 0; i < 1000; i++)
			continue;
		if (*mine != 4711)
			abort();
		++*rounds;
	}
}

UNIT_TEST(leaves_errno_alone)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's own malloc does not do without memory");
#endif
	const struct storm storm = storm_start(watch_errno_without_memory);
	struct target target;

	target_open(&target, storm.pid);
	for (int i = 0; i < 5; i++) {
		borrow(&target);
		CHECK_EQ(loader_dlopen.load(&target.loader, &target.remote), -ELIBACC);
		CHECK_EQ(remote_close(&target.remote), 0);
		storm_check(&storm);
	}
	target_close(&target);
	storm_end(&storm);
}

/*
 * Killed while the thread is in dlopen, or has been and its errno is not restored yet: the thread
 * does that itself.
 */
UNIT_SLOW_TEST(leaves_errno_alone_when_it_dies)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's own malloc does not do without memory");
#endif
	const struct storm storm = storm_start(watch_errno_without_memory);

	for (unsigned i = 0; i < 40; i++) {
		const struct timespec wait = {.tv_nsec = 100000 * (i % 20)};
		int ready[2], status;
		char byte;
		CHECK_EQ(pipe(ready), 0);
		const pid_t injector = fork();

		if (injector == 0) {
			struct target target;

			target_open(&target, storm.pid);
			borrow(&target);
			(void)!write(ready[1], "", 1);
			_exit(loader_dlopen.load(&target.loader, &target.remote) != -ELIBACC ||
			      remote_close(&target.remote));
		}
		close(ready[1]);
		CHECK_EQ(read(ready[0], &byte, 1), 1);
		close(ready[0]);
		nanosleep(&wait, NULL);
		kill(injector, SIGKILL);
		CHECK_EQ(waitpid(injector, &status, 0), injector);
		CHECK(WIFSIGNALED(status) || (WIFEXITED(status) && !WEXITSTATUS(status)));
		storm_check(&storm);
	}
	storm_end(&storm);
}

/* gdb opens what the list of objects names. */
UNIT_TEST(shows_no_path_that_others_could_open)
{
	const struct storm storm = storm_start(storm_malloc);
	struct target target;
	struct link_map link;
	char name[sizeof("[heapinject]")];

	target_open(&target, storm.pid);
	load(&target);
	CHECK_EQ(memory_read(&target.memory, target.control->dlopen_handle, &link, sizeof(link)),
		 0);
	CHECK_EQ(memory_read(&target.memory, (remote_addr)(uintptr_t)link.l_name, name,
			     sizeof(name)),
		 0);
	CHECK(!memcmp(name, "[heapinject]", sizeof(name)));
	unload(&target);
	target_close(&target);
	storm_end(&storm);
}

/*
 * An injector that comes after an injector that died right after dlopen knows no handle, and finds
 * a descriptor left open.
 */
UNIT_TEST(unloads_what_a_dead_injector_left)
{
	const struct storm storm = storm_start(storm_malloc);
	const size_t fds = count_fds(storm.pid);
	struct target target;
	int64_t fd;

	target_open(&target, storm.pid);
	load(&target);
	target.control->dlopen_handle = 0;
	borrow(&target);
	CHECK_EQ(memory_write(&target.memory, target.remote.scratch, LOADER_DLOPEN_MEMFD,
			      sizeof(LOADER_DLOPEN_MEMFD)),
		 0);
	CHECK_EQ(remote_syscall(&target.remote, SYS_memfd_create,
				(uint64_t[6]){target.remote.scratch, 0}, &fd),
		 0);
	CHECK(fd >= 0);
	CHECK_EQ(remote_close(&target.remote), 0);
	CHECK_EQ(count_fds(storm.pid), fds + 1);
	unload(&target);
	CHECK_EQ(count_mappings(storm.pid, LOADER_DLOPEN_MEMFD), 0);
	CHECK_EQ(count_fds(storm.pid), fds);
	target_close(&target);
	storm_end(&storm);
}

/*
 * What dlopen cannot load is refused, and nothing stays: no descriptor, no mapping, no message for
 * the program's next dlerror.
 */
static void expect_no_dlerror(volatile uint64_t *rounds)
{
	for (;;) {
		if (dlerror())
			abort();
		++*rounds;
	}
}

UNIT_TEST(a_failure_leaves_nothing)
{
	const struct storm storm = storm_start(expect_no_dlerror);
	const size_t fds = count_fds(storm.pid);
	static const uint8_t garbage[256] = "this is no ELF file";
	struct target target;

	target_open(&target, storm.pid);
	target.payload.file = garbage;
	target.payload.file_size = sizeof(garbage);
	borrow(&target);
	CHECK_EQ(loader_dlopen.load(&target.loader, &target.remote), -ELIBACC);
	CHECK_EQ(remote_close(&target.remote), 0);
	CHECK_EQ(target.control->dlopen_handle, 0);
	CHECK_EQ(count_mappings(storm.pid, LOADER_DLOPEN_MEMFD), 0);
	CHECK_EQ(count_fds(storm.pid), fds);
	target_close(&target);
	storm_end(&storm);
}

UNIT_MAIN()
