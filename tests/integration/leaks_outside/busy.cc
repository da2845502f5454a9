// SPDX-License-Identifier: MIT
//
// busy.cc - leaks nothing, and is hard to search: a list to which a thread pushes, of which the
// head is always newer than any look at it; a table that cannot be written; a stack of a coroutine
// in the middle of data. `busy lose` has also lost 50 blocks.
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <forward_list>
#include <thread>

static std::forward_list<long> list;
static void **sealed;
static ucontext_t outside, inside;

// A stack, and above it a table, in one mapping.
static struct {
	char stack[64 << 10];
	void *table[200];
} area;

static void push()
{
	for (long i = 0;; i++) {
		list.push_front(i);
		usleep(500);
	}
}

static void wait_inside()
{
	char byte;
	while (read(0, &byte, 1) > 0)
		;
	swapcontext(&inside, &outside);
}

static __attribute__((noinline)) void lose(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		*static_cast<volatile char *>(malloc(333)) = 1;
}

static __attribute__((noinline)) void wipe()
{
	volatile char room[16 << 10];
	for (unsigned i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main(int argc, char **)
{
	for (long i = 0; i < 100000; i++)
		list.push_front(i);
	sealed = static_cast<void **>(
		mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	for (unsigned i = 0; i < 200; i++)
		sealed[i] = calloc(1, 400), area.table[i] = calloc(1, 500);
	mprotect(sealed, 8192, PROT_READ);
	if (argc > 1)
		lose(50);
	wipe();
	std::thread(push).detach();
	getcontext(&inside);
	inside.uc_stack.ss_sp = area.stack;
	inside.uc_stack.ss_size = sizeof(area.stack);
	inside.uc_link = &outside;
	makecontext(&inside, wait_inside, 0);
	puts("ready");
	fflush(stdout);
	swapcontext(&outside, &inside);
}
