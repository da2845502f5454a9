/* SPDX-License-Identifier: MIT */
/*
 * registers.h - x86-64: general and vector registers (AVX-512 with its masks, or AVX2, as the CPU
 * has it), MXCSR, x87 stack and control word, the direction flag, and the red zone, where a leaf
 * function keeps its variables.
 */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <cpuid.h>

#include "selfcheck.h"

/* As the assembly below knows it. */
struct registers {
	uint64_t general[14]; /* rax rbx rdx rsi rbp r8-r15 rdi; rcx counts */
	uint64_t red_zone[16];
	uint64_t mask[8];
	uint64_t mxcsr, x87_control, flags;
	long double x87[6];
	uint8_t vector[32][64];
};
_Static_assert(__builtin_offsetof(struct registers, red_zone) == 112, "the assembly");
_Static_assert(__builtin_offsetof(struct registers, mask) == 240, "the assembly");
_Static_assert(__builtin_offsetof(struct registers, mxcsr) == 304, "the assembly");
_Static_assert(__builtin_offsetof(struct registers, x87) == 336, "the assembly");
_Static_assert(__builtin_offsetof(struct registers, vector) == 432, "the assembly");

/*
 * Loads all from *in, spins, and stores all to *out. Those that a C function must keep are put
 * back, and MXCSR, the control word and the direction flag are as C has them.
 */
void spin_avx512(const struct registers *in, struct registers *out, long spins);
void spin_avx2(const struct registers *in, struct registers *out, long spins);

/*
 * The scratch area: 0 out, 8 rax, 16 the flags, 24 MXCSR and control word of C. Below it is the red
 * zone.
 */
#define SPIN(name, LOAD_VECTORS, STORE_VECTORS)                                                    \
	__asm__(".text\n.globl " name "\n.type " name ", @function\n" name ":\n"                   \
		"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\nsub $40, "      \
		"%rsp\n"                                                                           \
		"mov %rsi, (%rsp)\nstmxcsr 24(%rsp)\nfnstcw 28(%rsp)\nmov %rdx, "                  \
		"%rcx\n" LOAD_VECTORS "ldmxcsr 304(%rdi)\nfldcw 312(%rdi)\n"                       \
		".irp n, 0, 1, 2, 3, 4, 5\nfldt 336+16*\\n(%rdi)\n.endr\n"                         \
		".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\nmov "               \
		"112+8*\\n(%rdi), %rax\nmov %rax, -128+8*\\n(%rsp)\n.endr\n"                       \
		"mov (%rdi), %rax\nmov 8(%rdi), %rbx\nmov 16(%rdi), %rdx\nmov 24(%rdi), "          \
		"%rsi\nmov 32(%rdi), %rbp\nmov 40(%rdi), %r8\nmov 48(%rdi), %r9\n"                 \
		"mov 56(%rdi), %r10\nmov 64(%rdi), %r11\nmov 72(%rdi), %r12\nmov 80(%rdi), "       \
		"%r13\nmov 88(%rdi), %r14\nmov 96(%rdi), %r15\n"                                   \
		"mov 104(%rdi), %rdi\nstd\n"                                                       \
		"1: dec %rcx\njnz 1b\n"                                                            \
		"mov %rax, 8(%rsp)\nmov (%rsp), %rax\nmov %rbx, 8(%rax)\nmov %rdx, 16(%rax)\nmov " \
		"%rsi, 24(%rax)\nmov %rbp, 32(%rax)\nmov %r8, 40(%rax)\n"                          \
		"mov %r9, 48(%rax)\nmov %r10, 56(%rax)\nmov %r11, 64(%rax)\nmov %r12, "            \
		"72(%rax)\nmov %r13, 80(%rax)\nmov %r14, 88(%rax)\nmov %r15, 96(%rax)\n"           \
		"mov %rdi, 104(%rax)\nmov %rax, %rdi\nmov 8(%rsp), %rax\nmov %rax, (%rdi)\n"       \
		".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\nmov "               \
		"-128+8*\\n(%rsp), %rax\nmov %rax, 112+8*\\n(%rdi)\n.endr\n"                       \
		"pushf\npop %rax\nmov %rax, 320(%rdi)\ncld\n" STORE_VECTORS                        \
		"stmxcsr 304(%rdi)\nfnstcw 312(%rdi)\n"                                            \
		".irp n, 5, 4, 3, 2, 1, 0\nfstpt 336+16*\\n(%rdi)\n.endr\n"                        \
		"ldmxcsr 24(%rsp)\nfldcw 28(%rsp)\nvzeroupper\nadd $40, %rsp\npop %r15\npop "      \
		"%r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n"                              \
		".size " name ", . - " name "\n")

#define ALL_OF_16 "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15"
#define ALL_OF_32 ALL_OF_16 ", 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31"
#define ALL_OF_8 "0, 1, 2, 3, 4, 5, 6, 7"

SPIN("spin_avx512",
     ".irp n, " ALL_OF_32 "\nvmovdqu64 432+64*\\n(%rdi), %zmm\\n\n.endr\n.irp n, " ALL_OF_8
     "\nkmovq 240+8*\\n(%rdi), %k\\n\n.endr\n",
     ".irp n, " ALL_OF_32 "\nvmovdqu64 %zmm\\n, 432+64*\\n(%rdi)\n.endr\n.irp n, " ALL_OF_8
     "\nkmovq %k\\n, 240+8*\\n(%rdi)\n.endr\n");
SPIN("spin_avx2", ".irp n, " ALL_OF_16 "\nvmovdqu 432+64*\\n(%rdi), %ymm\\n\n.endr\n",
     ".irp n, " ALL_OF_16 "\nvmovdqu %ymm\\n, 432+64*\\n(%rdi)\n.endr\n");

static bool has_avx512;

static void choose(struct self_worker *worker, struct registers *registers)
{
	uint64_t *words = (uint64_t *)registers;

	for (size_t i = 0; i < sizeof(*registers) / sizeof(*words); i++)
		words[i] = self_random(worker) << 32 ^ self_random(worker);
	/* rounding, flush to zero; no exception */
	registers->mxcsr = 0x1f80 | (self_random(worker) % 8) << 13;
	registers->x87_control = 0x037f | (self_random(worker) % 4) << 10;
	for (int i = 0; i < 6; i++)
		registers->x87[i] = (long double)self_random(worker) / 7;
}

static void compare(const struct registers *in, const struct registers *out)
{
	const size_t vectors = has_avx512 ? 32 : 16, bytes = has_avx512 ? 64 : 32;

	SELF_CHECK(memcmp(in->general, out->general, sizeof(in->general)) == 0);
	SELF_CHECK(memcmp(in->red_zone, out->red_zone, sizeof(in->red_zone)) == 0);
	SELF_CHECK(!has_avx512 || memcmp(in->mask, out->mask, sizeof(in->mask)) == 0);
	SELF_CHECK((uint32_t)in->mxcsr == (uint32_t)out->mxcsr);
	SELF_CHECK((uint16_t)in->x87_control == (uint16_t)out->x87_control);
	SELF_CHECK(out->flags & 0x400);
	for (int i = 0; i < 6; i++)
		SELF_CHECK(memcmp(&in->x87[i], &out->x87[i], 10) == 0);
	for (size_t i = 0; i < vectors; i++)
		SELF_CHECK(memcmp(in->vector[i], out->vector[i], bytes) == 0);
}

static void spin(const struct registers *in, struct registers *out, long spins)
{
	(has_avx512 ? spin_avx512 : spin_avx2)(in, out, spins);
}

/* NULL: this CPU has none that is known here. */
static const char *find_vectors(void)
{
	__builtin_cpu_init();
	has_avx512 = __builtin_cpu_supports("avx512bw");
	return has_avx512 ? "avx512" : __builtin_cpu_supports("avx2") ? "avx2" : NULL;
}

#endif
