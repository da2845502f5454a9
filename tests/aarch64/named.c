/* SPDX-License-Identifier: MIT */
/*
 * named.c - functions of a pool with arguments and results of all kinds, for hooks that pass both
 * on: structures in registers, by reference and by x8, vectors, many words on the stack, one that
 * waits. If it is compiled with landing pads, it asks the kernel to check them, where the CPU can
 * (PROT_BTI).
 *
 * Commands: "calls N" (each N times), "begin" (two threads call all the time), "end". Each answer
 * is the number of calls of threads, and of what was wrong.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "../integration/target.h"

#define THREADS 2
#define POOL __attribute__((noipa)) /* one copy of each, which all callers call */

#ifndef PROT_BTI
#define PROT_BTI 0x10
#endif
#ifndef HWCAP2_BTI
#define HWCAP2_BTI (1 << 17)
#endif

#ifdef __ARM_FEATURE_BTI_DEFAULT
#define IS_GUARDED 1
#else
#define IS_GUARDED 0
#endif

struct integers {
	void *block;
	long size;
};
struct mixed {
	void *block;
	double real;
};
struct reals {
	double real[4];
};
struct quads {
	long double real[4];
};
struct large {
	long word[9];
};
__extension__ typedef __int128 wide;
typedef float vector __attribute__((vector_size(16)));

extern char __executable_start[], etext[];
static atomic_bool runs;
static atomic_long wrong, calls;
static char memory[4096];

/* Also what makes them functions that call code which their compiler did not see. */
static void check_size(size_t size)
{
	if (size > sizeof(memory))
		fputs("the pool is empty\n", stderr);
}

POOL struct integers get_integers(void *old, size_t size)
{
	check_size(size);
	return (struct integers){memory + size, (long)size + (old != NULL)};
}

POOL struct mixed get_mixed(void *old, size_t size)
{
	check_size(size);
	return (struct mixed){memory + size, (double)size + 0.5 + (old != NULL)};
}

POOL struct reals get_reals(void *old, size_t size)
{
	const double real = (double)size;

	check_size(size);
	return (struct reals){{real, real + 1, real + 2, real + 3 + (old != NULL)}};
}

POOL struct quads get_quads(void *old, size_t size)
{
	const long double real = (long double)size;

	check_size(size);
	return (struct quads){{real, real + 1, real + 2, real + 3 + (old != NULL)}};
}

POOL struct large get_large(void *old, size_t size)
{
	check_size(size);
	return (struct large){{(long)size, old != NULL, 2, 3, 4, 5, 6, 7, 8}};
}

POOL vector get_vector(void *old, size_t size)
{
	check_size(size);
	return (vector){(float)size, 1, 2, 3 + (old != NULL)};
}

/* g and all behind it are on the stack, two structures among them, and one by reference. */
POOL void *get_many(void *old, size_t size, long a, long b, long c, long d, long e, long f,
		    double x0, double x1, double x2, double x3, double x4, double x5, double x6,
		    double x7, char g, struct integers h, float x8, long double x9, wide i,
		    struct large large, vector v, struct reals reals)
{
	check_size(size);
	if (a != 1 || b != 2 || c != 3 || d != 4 || e != 5 || f != 6 || g != 7 || h.block != old ||
	    h.size != 8 || i != (wide)9 << 64 || large.word[0] != 10 || large.word[8] != 18)
		wrong++;
	if (x0 != 0.5 || x1 != 1.5 || x2 != 2.5 || x3 != 3.5 || x4 != 4.5 || x5 != 5.5 ||
	    x6 != 6.5 || x7 != 7.5 || x8 != 8.5f || x9 != 9.5L || v[3] != 3 || reals.real[3] != 4)
		wrong++;
	return memory + size;
}

/* Is called while sessions end. */
POOL void *get_slowly(void *old, size_t size)
{
	usleep(5000);
	return old ? old : memory + size;
}

static void check(bool is_right)
{
	if (!is_right)
		wrong++;
}

/* How many of the registers that calls preserve, x19 to x28 and d8 to d15, are not. */
long count_damaged(void *(*function)(void *, size_t), void *old, size_t size);
__asm__(".text\n"
	".p2align 2\n"
	".type count_damaged, %function\n"
	"count_damaged:\n"
	"	.cfi_startproc\n"
	"	hint #34\n" /* bti c */
	"	stp x29, x30, [sp, #-160]!\n"
	"	.cfi_def_cfa_offset 160\n"
	"	.cfi_offset x29, -160\n"
	"	.cfi_offset x30, -152\n"
	"	mov x29, sp\n"
	"	stp x19, x20, [sp, #16]\n"
	"	stp x21, x22, [sp, #32]\n"
	"	stp x23, x24, [sp, #48]\n"
	"	stp x25, x26, [sp, #64]\n"
	"	stp x27, x28, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	.irp register, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28\n"
	"	mov x\\register, #\\register\n"
	"	.endr\n"
	"	.irp register, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"	mov x9, #\\register\n"
	"	fmov d\\register, x9\n"
	"	.endr\n"
	"	mov x9, x0\n"
	"	mov x0, x1\n"
	"	mov x1, x2\n"
	"	blr x9\n"
	"	mov x0, #0\n"
	"	.irp register, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28\n"
	"	cmp x\\register, #\\register\n"
	"	cinc x0, x0, ne\n"
	"	.endr\n"
	"	.irp register, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"	fmov x9, d\\register\n"
	"	cmp x9, #\\register\n"
	"	cinc x0, x0, ne\n"
	"	.endr\n"
	"	ldp x19, x20, [sp, #16]\n"
	"	ldp x21, x22, [sp, #32]\n"
	"	ldp x23, x24, [sp, #48]\n"
	"	ldp x25, x26, [sp, #64]\n"
	"	ldp x27, x28, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	ldp x29, x30, [sp], #160\n"
	"	.cfi_def_cfa_offset 0\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size count_damaged, . - count_damaged\n");

/* old: NULL, or what was given before. */
__attribute__((noinline)) static void call_all(void *old, size_t size)
{
	const bool is_old = old != NULL;
	const double real = (double)size;
	const struct integers integers = get_integers(old, size);
	const struct mixed mixed = get_mixed(old, size);
	const struct reals reals = get_reals(old, size);
	const struct quads quads = get_quads(old, size);
	const struct large large = get_large(old, size);
	const vector several = get_vector(old, size);
	const struct large ten = {{10, 11, 12, 13, 14, 15, 16, 17, 18}};

	check(integers.block == memory + size && integers.size == (long)size + is_old);
	check(mixed.block == memory + size && mixed.real == real + 0.5 + is_old);
	check(reals.real[0] == real && reals.real[1] == real + 1 && reals.real[2] == real + 2 &&
	      reals.real[3] == real + 3 + is_old);
	check(quads.real[0] == real && quads.real[1] == real + 1 && quads.real[2] == real + 2 &&
	      quads.real[3] == real + 3 + is_old);
	check(large.word[0] == (long)size && large.word[1] == is_old && large.word[8] == 8);
	check(several[0] == (float)size && several[1] == 1 && several[3] == 3 + is_old);
	check(get_many(old, size, 1, 2, 3, 4, 5, 6, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 7,
		       (struct integers){old, 8}, 8.5f, 9.5L, (wide)9 << 64, ten,
		       (vector){0, 1, 2, 3}, (struct reals){{1, 2, 3, 4}}) == memory + size);
	check(!count_damaged((void *(*)(void *, size_t))get_integers, old, size));
}

static void *call_all_the_time(void *unused)
{
	for (long i = 0; atomic_load(&runs); i++) {
		call_all(i % 2 ? memory + 64 : NULL, 64);
		if (i % 64 == 0)
			check(get_slowly(memory, 64) == memory);
		calls++;
	}
	return unused;
}

int main(void)
{
	const uintptr_t code = (uintptr_t)__executable_start & ~4095ull;
	char command[TARGET_COMMAND_MAX];
	pthread_t thread[THREADS];
	size_t count;

	if (IS_GUARDED && (getauxval(AT_HWCAP2) & HWCAP2_BTI) &&
	    mprotect((void *)code, ((uintptr_t)etext - code + 4095) & ~4095ull,
		     PROT_READ | PROT_EXEC | PROT_BTI))
		abort();
	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "calls %zu", &count) == 1) {
			for (size_t i = 0; i < count; i++)
				call_all(i % 2 ? memory + 64 : NULL, 100);
		} else if (strcmp(command, "begin") == 0) {
			atomic_store(&runs, true);
			for (size_t i = 0; i < THREADS; i++)
				if (pthread_create(&thread[i], NULL, call_all_the_time, NULL))
					abort();
		} else {
			atomic_store(&runs, false);
			for (size_t i = 0; i < THREADS; i++)
				pthread_join(thread[i], NULL);
		}
		target_say("calls %ld wrong %ld\n", atomic_load(&calls), atomic_load(&wrong));
	}
	_exit(0); /* what is called at an exit is the compiler's, without landing pads */
}
