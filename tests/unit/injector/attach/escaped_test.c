/* SPDX-License-Identifier: MIT */
/*
 * escaped: copies of gate addresses in a child's data, heap, stack, large, shared and sealed
 * mappings, in disguise too, are fixed up; look-alikes and untouched pages are not.
 */
#include "escaped_fix_up.h"

#include "stop_world.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "unit.h"

#define GATE 0x7123456000ull
#define ORIGINAL 0x7fff00001000ull
#define SPARSE_BYTES (1ull << 34)
#define GUARD 0x1122334455667788ull
#define EXPECTED 7

/* Others write to it, which a compiler does not see. */
static volatile uint64_t in_data[3] = {1, 2, 3};
/*
 * For what is compared with GATE at the end: a register in which it was kept until then has been
 * fixed up, too.
 */
static volatile uint64_t not_gate = ~GATE;

static void check_child(int from, int to)
{
	uint64_t on_stack[4] = {0, GATE + HI_GATE_STRIDE, 0, GATE + 1 /* no entry starts here */};
	uint64_t *in_heap = malloc(64);
	uint64_t *sparse = mmap(NULL, SPARSE_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t *sealed =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *shared =
		mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char byte = 0;
	shared[70000] = GATE;
	sealed[7] = GATE;
	mprotect(sealed, 4096, PROT_READ);
	in_data[0] = arch_disguise_pointer(GATE + HI_GATE_STRIDE, GUARD);
	in_data[1] = GATE;
	in_heap[2] = GATE + 2 * HI_GATE_STRIDE;
	in_heap[3] = GATE + 9 * HI_GATE_STRIDE; /* past the last entry */
	sparse[SPARSE_BYTES / 16] = GATE;
	__asm__ volatile("" : : "r"(on_stack), "r"(in_heap) : "memory");
	(void)!write(to, &byte, 1);
	(void)!read(from, &byte, 1);
	const int good = in_data[0] == arch_disguise_pointer(ORIGINAL + 1, GUARD) &&
			 in_data[1] == ORIGINAL && sealed[7] == ORIGINAL &&
			 shared[70000] == ORIGINAL &&
			 ((volatile uint64_t *)on_stack)[1] == ORIGINAL + 1 &&
			 on_stack[3] == ~not_gate + 1 && in_heap[2] == ORIGINAL + 2 &&
			 in_heap[3] == ~not_gate + 9 * HI_GATE_STRIDE &&
			 sparse[SPARSE_BYTES / 16] == ORIGINAL;
	_exit(good ? 0 : 1);
}

UNIT_TEST(every_copy_is_fixed_up_and_nothing_else)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's shadow memory is terabytes to search");
#endif
	int to_child[2], from_child[2], status;
	char byte;
	CHECK_EQ(pipe(to_child), 0);
	CHECK_EQ(pipe(from_child), 0);
	const pid_t child = fork();
	if (child == 0)
		check_child(to_child[0], from_child[1]);
	CHECK_EQ(read(from_child[0], &byte, 1), 1);

	struct memory memory;
	CHECK_EQ(memory_open(&memory, child, child), 0);
	struct escaped_target target = {.pid = child,
					.memory = &memory,
					.gate = GATE,
					.gate_count = 3,
					.pointer_guard = GUARD};
	for (unsigned i = 0; i < 3; i++)
		target.original[i] = ORIGINAL + i;
	struct escaped_pointers copies;
	struct fixed_up fixed_up = {0};
	CHECK_EQ(escaped_find(&target, &copies), 0);
	CHECK(copies.count >= EXPECTED); /* spilled copies in dead stack may come on top */
	CHECK_EQ(escaped_fix_up(&target, &copies, &fixed_up), 0);
	CHECK_EQ(fixed_up.words, copies.count);
	CHECK(stop_world_account().count[STOP_WORLD_COPIES] == 1 &&
	      stop_world_account().longest_ns > 0);
	escaped_pointers_close(&copies);
	CHECK_EQ(escaped_find(&target, &copies), 0);
	CHECK_EQ(copies.count, 0);
	CHECK_EQ(write(to_child[1], &byte, 1), 1);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
}

/* In a child that says by a byte that all is in place. */
static void find_copies(pid_t child, int from_child, struct escaped_pointers *out_copies)
{
	struct memory memory;
	char byte;
	CHECK_EQ(read(from_child, &byte, 1), 1);
	CHECK_EQ(memory_open(&memory, child, child), 0);
	const struct escaped_target target = {
		.pid = child, .memory = &memory, .gate = GATE, .gate_count = 1};
	CHECK_EQ(escaped_find(&target, out_copies), 0);
}

/* They are reported, and the file stays as it is: up to its limit. */
UNIT_TEST(copies_in_files_are_counted)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's shadow memory is terabytes to search");
#endif
	const size_t much = 80u << 20;
	char path[] = "/tmp/heapinject-test.XXXXXX";
	const int file = mkstemp(path);
	int from_child[2];
	char byte = 0;
	CHECK(file >= 0);
	unlink(path);
	CHECK_EQ(ftruncate(file, (off_t)much), 0);
	uint64_t *mapped = mmap(NULL, much, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(mapped != MAP_FAILED);
	CHECK_EQ(pipe(from_child), 0);
	const pid_t child = fork();
	if (child == 0) {
		for (size_t at = 0; at < much / 8; at += 512)
			mapped[at] = 1;
		mapped[3] = GATE;
		(void)!write(from_child[1], &byte, 1);
		pause();
		_exit(0);
	}
	struct escaped_pointers copies;
	find_copies(child, from_child[0], &copies);
	CHECK_EQ(copies.in_files, 1);
	CHECK_EQ(copies.unsearched, 16u << 20);
	for (size_t i = 0; i < copies.count; i++)
		CHECK(copies.at[i] - (uintptr_t)mapped >= much);
	escaped_pointers_close(&copies);
	CHECK_EQ(mapped[3], GATE);
	munmap(mapped, much);
	close(file);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

#define PIECE (256u << 10) /* that is read at once */

/* Of the same run of pages: across the border of two pieces, and where the program cannot go. */
UNIT_TEST(copies_are_seen_across_pieces_and_out_of_reach)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's shadow memory is terabytes to search");
#endif
	int from_child[2];
	char byte = 0;
	uint8_t *memory =
		mmap(NULL, 3 * PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *hidden =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK_EQ(pipe(from_child), 0);
	const pid_t child = fork();
	if (child == 0) {
		const uint64_t copy = ~not_gate, tagged = copy | 1;
		memset(memory, 1, 3 * PIECE);
		/* wherever the run begins, one of these is across */
		memory += PIECE - (uintptr_t)memory % PIECE;
		for (size_t at = 4096; at <= PIECE; at += 4096)
			memcpy(memory + at - 3, &copy, sizeof(copy));
		hidden[9] = copy;
		hidden[10] = tagged;
		mprotect(hidden, 4096, PROT_NONE);
		(void)!write(from_child[1], &byte, 1);
		pause();
		_exit(0);
	}
	struct escaped_pointers copies;
	find_copies(child, from_child[0], &copies);
	bool is_hidden_found = false;
	for (size_t i = 0; i < copies.count; i++)
		is_hidden_found |= copies.at[i] == (uintptr_t)&hidden[9];
	CHECK(is_hidden_found);
	CHECK(copies.doubts.count[DOUBT_UNALIGNED] >= PIECE / 4096);
	CHECK(copies.doubts.count[DOUBT_TAGGED] >= 1);
	CHECK_EQ(copies.doubts.count[DOUBT_UNREAD], 0);
	escaped_pointers_close(&copies);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

#ifndef __SANITIZE_ADDRESS__
/* A page that cannot be read for so many times. */
static uint64_t missing_at;
static int missing_times;

static bool is_missing(uint64_t at)
{
	return missing_at && at == missing_at && missing_times-- > 0;
}

/* Instead of libc's. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long local_count,
			 const struct iovec *remote, unsigned long remote_count,
			 unsigned long flags)
{
	if (is_missing((uintptr_t)remote->iov_base)) {
		errno = EFAULT;
		return -1;
	}
	return syscall(SYS_process_vm_readv, pid, local, local_count, remote, remote_count, flags);
}

ssize_t pread(int fd, void *into, size_t size, off_t at)
{
	if (is_missing((uint64_t)at)) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pread64, fd, into, size, at);
}
#endif

/*
 * The end of a heap that shrinks and grows may be gone when it is to be read, and be there when the
 * search asks whether it is.
 */
UNIT_TEST(pages_that_come_back_are_searched)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's shadow memory is terabytes to search");
#else
	int from_child[2];
	char byte = 0;
	/* between two that it does not touch: so it is read alone */
	uint64_t *page =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page += 4096 / sizeof(*page);
	CHECK_EQ(pipe(from_child), 0);
	const pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		page[9] = ~not_gate;
		(void)!write(from_child[1], &byte, 1);
		pause();
		_exit(0);
	}
	for (int times = 2; times <= 1000; times += 998) {
		struct escaped_pointers copies;
		bool is_found = false;
		missing_at = (uintptr_t)page;
		missing_times = times;
		if (times > 2) /* it has said so once */
			(void)!write(from_child[1], &byte, 1);
		find_copies(child, from_child[0], &copies);
		for (size_t i = 0; i < copies.count; i++)
			is_found |= copies.at[i] == (uintptr_t)&page[9];
		CHECK_EQ(is_found, times == 2);
		CHECK_EQ(copies.doubts.count[DOUBT_UNREAD], times == 2 ? 0 : 1);
		escaped_pointers_close(&copies);
	}
	missing_at = 0;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
#endif
}

/* Shared memory is searched up to a limit, and what is beyond it is reported. */
UNIT_SLOW_TEST(much_shared_memory_is_not_searched)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's shadow memory is terabytes to search");
#endif
	const size_t much = 300u << 20;
	int from_child[2];
	char byte = 0;
	CHECK_EQ(pipe(from_child), 0);
	const pid_t child = fork();
	if (child == 0) {
		uint8_t *shared =
			mmap(NULL, much, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		for (size_t at = 0; at < much; at += 4096)
			shared[at] = 1;
		(void)!write(from_child[1], &byte, 1);
		pause();
		_exit(0);
	}
	struct escaped_pointers copies;
	find_copies(child, from_child[0], &copies);
	CHECK(copies.unsearched >= 40u << 20 && copies.unsearched < 100u << 20);
	escaped_pointers_close(&copies);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

UNIT_TEST(tells_when_the_target_is_gone)
{
	const pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	struct memory memory;
	CHECK_EQ(memory_open(&memory, child, child), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	const struct escaped_target target = {
		.pid = child, .memory = &memory, .gate = GATE, .gate_count = 1};
	struct escaped_pointers copies;
	CHECK(escaped_find(&target, &copies) < 0);
}

UNIT_MAIN()
