/* SPDX-License-Identifier: MIT */
/*
 * named_results/target.c - functions that return all kinds of results of the ABI, and one with
 * global variables in registers. Each call is checked; a wrong result ends the program.
 *
 * Commands: "calls N" (each function N times), "begin" (two threads call them all the time), "end"
 * (these end; says how often they called).
 */
#include <complex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../target.h"

#define THREADS 2
#define KEPT 5 /* rbx, r12 to r15 */
#ifdef __clang__
#define POOL __attribute__((noinline))
#else
#define POOL __attribute__((noipa)) /* one copy of each, which all callers call */
#endif

struct integers {
	void *block;
	long size;
};
struct doubles {
	double a, b;
};
struct mixed {
	void *block;
	double real;
};
struct large {
	long word[9];
};
typedef unsigned __int128 wide;
typedef double vector __attribute__((vector_size(32)));

static atomic_bool runs;
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

POOL struct doubles get_doubles(void *old, size_t size)
{
	check_size(size);
	return (struct doubles){(double)size, (double)size + 0.5 + (old != NULL)};
}

POOL struct mixed get_mixed(void *old, size_t size)
{
	check_size(size);
	return (struct mixed){memory + size, (double)size + 0.5 + (old != NULL)};
}

POOL wide get_wide(void *old, size_t size)
{
	check_size(size);
	return (wide)(size + (old != NULL)) << 64 | (uintptr_t)memory;
}

POOL long double get_long(void *old, size_t size)
{
	check_size(size);
	return (long double)size + 0.25L + (old != NULL);
}

POOL _Complex long double get_complex(void *old, size_t size)
{
	check_size(size);
	return (long double)size + (0.25L + (old != NULL)) * I;
}

POOL struct large get_large(void *old, size_t size)
{
	check_size(size);
	return (struct large){{(long)size, old != NULL, 2, 3, 4, 5, 6, 7, 8}};
}

__attribute__((target("avx"))) POOL vector get_vector(void *old, size_t size)
{
	check_size(size);
	return (vector){(double)size, 1, 2, 3 + (old != NULL)};
}

static void check(bool is_right, const char *what)
{
	if (is_right)
		return;
	fprintf(stderr, "%s: wrong result\n", what);
	abort();
}

__attribute__((target("avx"))) static void check_vector(void *old, size_t size)
{
	const vector got = get_vector(old, size);

	check(got[0] == (double)size && got[1] == 1 && got[2] == 2 && got[3] == 3 + (old != NULL),
	      "a vector of 32 bytes");
}

/* old: NULL, or what was given before. */
static void call_all(void *old, size_t size)
{
	const bool is_old = old != NULL;
	const struct integers integers = get_integers(old, size);
	const struct doubles doubles = get_doubles(old, size);
	const struct mixed mixed = get_mixed(old, size);
	const wide both = get_wide(old, size);
	const long double real = get_long(old, size);
	const _Complex long double whole = get_complex(old, size);
	const struct large large = get_large(old, size);

	check(integers.block == memory + size && integers.size == (long)size + is_old,
	      "two integers");
	check(doubles.a == (double)size && doubles.b == (double)size + 0.5 + is_old, "two doubles");
	check(mixed.block == memory + size && mixed.real == (double)size + 0.5 + is_old,
	      "an integer and a double");
	check(both == ((wide)(size + is_old) << 64 | (uintptr_t)memory), "__int128");
	check(real == (long double)size + 0.25L + is_old, "long double");
	check(creall(whole) == (long double)size && cimagl(whole) == 0.25L + is_old,
	      "_Complex long double");
	check(large.word[0] == (long)size && large.word[1] == is_old && large.word[8] == 8,
	      "a large structure");
	if (__builtin_cpu_supports("avx"))
		check_vector(old, size);
}

/*
 * With global variables in r12 to r15: adds 1 to each, and returns their sum. As all that looks
 * like a C library's function calls through a pointer, so does it.
 */
void nothing(void);
void nothing(void)
{
}
uint64_t get_registered(void *old, size_t size);
__asm__(".text\n"
	".globl get_registered\n"
	".type get_registered, @function\n"
	"get_registered:\n"
	"	.cfi_startproc\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	inc %r12\n"
	"	inc %r13\n"
	"	inc %r14\n"
	"	inc %r15\n"
	"	lea nothing(%rip), %rax\n"
	"	call *%rax\n"
	"	lea (%r12, %r13), %rax\n"
	"	add %r14, %rax\n"
	"	add %r15, %rax\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size get_registered, . - get_registered\n");

/* With one in each, and in the frame pointer: hooks need two of these. */
void get_registered_all(void *old, size_t size);
__asm__(".text\n"
	".globl get_registered_all\n"
	".type get_registered_all, @function\n"
	"get_registered_all:\n"
	"	.cfi_startproc\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	lea nothing(%rip), %rax\n"
	"	call *%rax\n"
	"	lea (%rbx, %r12), %rax\n"
	"	add %r13, %rax\n"
	"	add %r14, %rax\n"
	"	add %r15, %rax\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size get_registered_all, . - get_registered_all\n");

/* kept: what is in rbx and r12 to r15, before and after. */
static uint64_t call_registered(uint64_t kept[KEPT])
{
	uint64_t function = (uintptr_t)get_registered, pool = 0, size = 8;

	__asm__ volatile("push %%rbx\n\tpush %%rbp\n\tmov %%rsp, %%rbp\n\tand $-16, %%rsp\n\t"
			 "push %[kept]\n\tpush %[kept]\n\t"
			 "mov (%[kept]), %%rbx\n\tmov 8(%[kept]), %%r12\n\t"
			 "mov 16(%[kept]), %%r13\n\tmov 24(%[kept]), %%r14\n\t"
			 "mov 32(%[kept]), %%r15\n\t"
			 "call *%%rax\n\t"
			 "pop %%rcx\n\tpop %%rcx\n\t"
			 "mov %%rbx, (%%rcx)\n\tmov %%r12, 8(%%rcx)\n\tmov %%r13, 16(%%rcx)\n\t"
			 "mov %%r14, 24(%%rcx)\n\tmov %%r15, 32(%%rcx)\n\t"
			 "mov %%rbp, %%rsp\n\tpop %%rbp\n\tpop %%rbx"
			 : "+a"(function), "+D"(pool), "+S"(size)
			 : [kept] "d"(kept)
			 : "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory",
			   "cc");
	return function;
}

static void check_registered(size_t size)
{
	uint64_t kept[KEPT] = {size, size + 1, size + 2, size + 3, size + 4};
	const uint64_t sum = call_registered(kept);

	check(sum == 4 * size + 14, "global register variables within the function");
	for (size_t i = 0; i < KEPT; i++)
		check(kept[i] == size + i + (i != 0), "global register variables after it");
}

static void *call_all_the_time(void *out_calls)
{
	for (; atomic_load(&runs); ++*(long *)out_calls) {
		if (*(long *)out_calls % 256 == 0)
			usleep(1000); /* others want a CPU, too */
		call_all(NULL, 64);
		call_all(memory + 64, 128);
		check_registered(256);
	}
	return NULL;
}

int main(void)
{
	char command[TARGET_COMMAND_MAX];
	pthread_t thread[THREADS];
	long calls[THREADS] = {0};
	size_t count;

	target_say("ready\n");
	while (target_read(command)) {
		if (sscanf(command, "calls %zu", &count) == 1) {
			for (size_t i = 0; i < count; i++) {
				call_all(i % 2 ? memory + 64 : NULL, i % 100);
				check_registered(i);
			}
			target_say("done\n");
		} else if (strcmp(command, "begin") == 0) {
			atomic_store(&runs, true);
			for (size_t i = 0; i < THREADS; i++) {
				calls[i] = 0;
				if (pthread_create(&thread[i], NULL, call_all_the_time, &calls[i]))
					abort();
			}
			target_say("done\n");
		} else {
			atomic_store(&runs, false);
			for (size_t i = 0; i < THREADS; i++)
				pthread_join(thread[i], NULL);
			target_say("%ld\n", calls[0] + calls[1]);
		}
	}
	return 0;
}
