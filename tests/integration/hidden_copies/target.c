/* SPDX-License-Identifier: MIT */
/*
 * `copy KIND`: keeps malloc's address, as it is just now, where no aligned word shows it. `use`:
 * takes it from there and calls it. No other copy outlives the command: what is on the stack is
 * overwritten.
 */
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "../target.h"

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

#define PAGE_BYTES 4096
#define MARK_LOW 5ul
#define MARK_HIGH (0xabcdul << 48)

typedef void *(*allocator)(size_t);

static struct __attribute__((packed)) {
	char before[3];
	uint64_t address;
} packed;
static volatile uint64_t marked;
static uint64_t *hidden;
static uint8_t *code;
static volatile int is_wanted, is_loaded, is_good;

__attribute__((noinline)) static void sweep_stack(void)
{
	volatile char swept[16384];

	for (size_t i = 0; i < sizeof(swept); i++)
		swept[i] = 0;
}

/* What stands in our slot. */
__attribute__((noinline)) static uint64_t read_slot(void)
{
	uint64_t address;

	__asm__ volatile("mov malloc@GOTPCREL(%%rip), %0" : "=r"(address));
	return address;
}

/* In a register that no call keeps: so none is made. */
static void *keep_in_vector(void *unused)
{
	uint64_t address;

	__asm__ volatile("movq malloc@GOTPCREL(%%rip), %%xmm13\n\t"
			 "movl $1, %1\n"
			 "1:\tpause\n\t"
			 "cmpl $0, %2\n\t"
			 "je 1b\n\t"
			 "movq %%xmm13, %0\n"
			 : "=r"(address), "=m"(is_loaded)
			 : "m"(is_wanted)
			 : "xmm13", "memory");
	*(volatile char *)((allocator)address)(1000) = 1;
	is_good = 1;
	return unused;
}

static void *map_page(void)
{
	return mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* A function of bytes, followed by a jump to what it has in rax unless it is a jump itself. */
static void make_code(const void *begin, size_t size, const void *operand, size_t operand_size)
{
	uint8_t *at = code = map_page();

	code += 16;
	at += 16;
	memcpy(at, begin, size);
	memcpy(at + size, operand, operand_size);
	memcpy(at + size + operand_size, "\xff\xe0", 2); /* jmp *%rax */
	mprotect(code - 16, PAGE_BYTES, PROT_READ | PROT_EXEC);
}

static void make_relative(const void *begin, size_t size)
{
	uint8_t *page = map_page(); /* the next one is mapped close by */
	int64_t distance;

	munmap(page, PAGE_BYTES);
	distance = (int64_t)(read_slot() - (uintptr_t)(page + 16 + size + 4));
	make_code(begin, size, &(int32_t){(int32_t)distance}, 4);
	if (code != page + 16 || distance != (int32_t)distance)
		exit(77);
}

static void keep_immediate(void)
{
	const uint64_t address = read_slot();

	make_code("\x90\x48\xb8", 3, &address, sizeof(address)); /* movabs $address, %rax */
}

/* In memory that is shared with nobody, and out of reach afterwards, or for reading only. */
static void keep_shared(void *at, int protection)
{
	if (at == MAP_FAILED)
		exit(77);
	hidden = at;
	hidden[5] = read_slot();
	mprotect(hidden, PAGE_BYTES, protection);
}

/* Not even a debugger can read that. */
static void *map_secret(void)
{
	const int file = (int)syscall(SYS_memfd_secret, 0);

	if (file < 0 || ftruncate(file, PAGE_BYTES))
		return MAP_FAILED;
	return mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

__attribute__((noinline)) static void copy(const char *kind)
{
	pthread_t thread;

	if (!strcmp(kind, "unaligned")) {
		packed.address = read_slot();
	} else if (!strcmp(kind, "low")) {
		marked = read_slot() | MARK_LOW;
	} else if (!strcmp(kind, "high")) {
		marked = read_slot() | MARK_HIGH;
	} else if (!strcmp(kind, "inaccessible")) {
		hidden = map_page();
		hidden[5] = read_slot();
		mprotect(hidden, PAGE_BYTES, PROT_NONE);
	} else if (!strcmp(kind, "shared") || !strcmp(kind, "sealed")) {
		keep_shared(mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0),
			    kind[1] == 'h' ? PROT_NONE : PROT_READ);
	} else if (!strcmp(kind, "secret")) {
		keep_shared(map_secret(), PROT_READ);
	} else if (!strcmp(kind, "vector")) {
		pthread_create(&thread, NULL, keep_in_vector, NULL);
		while (!is_loaded)
			usleep(1000);
	} else if (!strcmp(kind, "immediate")) {
		keep_immediate();
	} else if (!strcmp(kind, "jump")) {
		make_relative("\xe9", 1);
	} else {
		make_relative("\x48\x8d\x05", 3); /* lea distance(%rip), %rax */
	}
}

static int use(const char *kind)
{
	uint64_t address;

	if (!strcmp(kind, "vector")) {
		is_wanted = 1;
		while (!is_good)
			usleep(1000);
		return 1;
	}
	if (!strcmp(kind, "inaccessible") || !strcmp(kind, "shared"))
		mprotect(hidden, PAGE_BYTES, PROT_READ);
	address = code     ? (uintptr_t)code
		  : hidden ? hidden[5]
		  : marked ? marked & ~(MARK_LOW | MARK_HIGH)
			   : packed.address;
	for (int i = 0; i < 1000; i++) {
		char *block = ((allocator)address)(1000);

		block[999] = 1;
		free(block);
	}
	return 1;
}

static volatile unsigned long rounds;

static void *work(void *unused)
{
	for (;; rounds++) {
		free(malloc(1000));
		usleep(10);
	}
	return unused;
}

int main(int argc, char **argv)
{
	char command[TARGET_COMMAND_MAX];
	pthread_t thread;

	if (argc != 2)
		return 2;
	pthread_create(&thread, NULL, work, NULL);
	target_say("ready\n");
	while (target_read(command)) {
		if (!strcmp(command, "copy"))
			copy(argv[1]);
		sweep_stack();
		target_say("%s\n", strcmp(command, "use") || use(argv[1]) ? "good" : "bad");
	}
	return 0;
}
