/* SPDX-License-Identifier: MIT */
/*
 * registers.h - aarch64: general registers, x18 and the flags among them, FPCR, FPSR, and vector
 * registers: SVE with its predicates and FFR, or those of 16 bytes, as the CPU has it.
 */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <sys/auxv.h>

#include "selfcheck.h"

#define VECTOR_MAX 256

/* As the assembly below knows it. Vectors and predicates follow each other without a gap. */
struct registers {
	uint64_t general[28]; /* x0-x15, x18-x29; x16 counts */
	uint64_t flags, fpcr, fpsr, reserved;
	uint8_t vector[32 * VECTOR_MAX];
	uint8_t predicate[16 * VECTOR_MAX / 8];
	uint8_t ffr[VECTOR_MAX / 8];
};
_Static_assert(__builtin_offsetof(struct registers, flags) == 224, "the assembly");
_Static_assert(__builtin_offsetof(struct registers, vector) == 256, "the assembly");
_Static_assert(__builtin_offsetof(struct registers, predicate) == 0x2100, "the assembly");
_Static_assert(__builtin_offsetof(struct registers, ffr) == 0x2300, "the assembly");

/*
 * Loads all from *in, spins, and stores all to *out. Those that a C function must keep are put
 * back, and FPCR is as C has it.
 */
void spin_simd(const struct registers *in, struct registers *out, long spins);
void spin_sve(const struct registers *in, struct registers *out, long spins);

/*
 * The frame: 0 registers of C, 160 out, 168 FPCR of C, 176 x18 of C. LOAD_VECTORS loads by x0, with
 * x3 to spare; STORE_VECTORS stores by x17, with x0 to spare.
 */
#define SPIN(name, LOAD_VECTORS, STORE_VECTORS)                                                    \
	__asm__(".text\n.arch_extension sve\n.p2align 2\n.globl " name "\n.type " name             \
		", %function\n" name ":\n"                                                         \
		"sub sp, sp, #192\nstp x29, x30, [sp]\nstp x19, x20, [sp, #16]\nstp x21, x22, "    \
		"[sp, #32]\nstp x23, x24, [sp, #48]\nstp x25, x26, [sp, #64]\nstp x27, x28, [sp, " \
		"#80]\nstp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, "       \
		"#128]\nstp d14, d15, [sp, #144]\nmrs x3, fpcr\nstp x1, x3, [sp, #160]\nstr x18, " \
		"[sp, #176]\nmov x16, x2\n" LOAD_VECTORS                                           \
		"ldr x3, [x0, #224]\nmsr nzcv, x3\nldr x3, [x0, #232]\nmsr fpcr, x3\nldr x3, "     \
		"[x0, "                                                                            \
		"#240]\nmsr fpsr, x3\n"                                                            \
		"ldp x2, x3, [x0, #16]\nldp x4, x5, [x0, #32]\nldp x6, x7, [x0, #48]\nldp x8, "    \
		"x9, "                                                                             \
		"[x0, #64]\nldp x10, x11, [x0, #80]\nldp x12, x13, [x0, #96]\nldp x14, x15, [x0, " \
		"#112]\nldp x18, x19, [x0, #128]\nldp x20, x21, [x0, #144]\nldp x22, x23, [x0, "   \
		"#160]\nldp x24, x25, [x0, #176]\nldp x26, x27, [x0, #192]\nldp x28, x29, [x0, "   \
		"#208]\nldp x0, x1, [x0]\n"                                                        \
		"1: sub x16, x16, #1\ncbnz x16, 1b\n"                                              \
		"ldr x17, [sp, #160]\nstp x0, x1, [x17]\nstp x2, x3, [x17, #16]\nstp x4, x5, "     \
		"[x17, #32]\nstp x6, x7, [x17, #48]\nstp x8, x9, [x17, #64]\nstp x10, x11, [x17, " \
		"#80]\nstp x12, x13, [x17, #96]\nstp x14, x15, [x17, #112]\nstp x18, x19, [x17, "  \
		"#128]\nstp x20, x21, [x17, #144]\nstp x22, x23, [x17, #160]\nstp x24, x25, "      \
		"[x17, "                                                                           \
		"#176]\nstp x26, x27, [x17, #192]\nstp x28, x29, [x17, #208]\n"                    \
		"mrs x0, nzcv\nstr x0, [x17, #224]\nmrs x0, fpcr\nstr x0, [x17, #232]\nmrs x0, "   \
		"fpsr\nstr x0, [x17, #240]\n" STORE_VECTORS                                        \
		"ldr x3, [sp, #168]\nmsr fpcr, x3\nldr x18, [sp, #176]\nldp d14, d15, [sp, "       \
		"#144]\nldp d12, d13, [sp, #128]\nldp d10, d11, [sp, #112]\nldp d8, d9, [sp, "     \
		"#96]\nldp x27, x28, [sp, #80]\nldp x25, x26, [sp, #64]\nldp x23, x24, [sp, "      \
		"#48]\nldp x21, x22, [sp, #32]\nldp x19, x20, [sp, #16]\nldp x29, x30, [sp]\nadd " \
		"sp, sp, #192\nret\n"                                                              \
		".size " name ", . - " name "\n")

#define ALL_OF_16 "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15"
#define ALL_OF_32 ALL_OF_16 ", 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31"

SPIN("spin_simd", ".irp n, " ALL_OF_32 "\nldr q\\n, [x0, #256+16*\\n]\n.endr\n",
     ".irp n, " ALL_OF_32 "\nstr q\\n, [x17, #256+16*\\n]\n.endr\n");
SPIN("spin_sve",
     "add x3, x0, #256\n.irp n, " ALL_OF_32 "\nldr z\\n, [x3, #\\n, mul vl]\n.endr\n"
     "add x3, x0, #0x2, lsl #12\nadd x3, x3, #0x100\nsetffr\n"
     ".irp n, " ALL_OF_16 "\nldr p\\n, [x3, #\\n, mul vl]\n.endr\n",
     "add x0, x17, #256\n.irp n, " ALL_OF_32 "\nstr z\\n, [x0, #\\n, mul vl]\n.endr\n"
     "add x0, x17, #0x2, lsl #12\nadd x0, x0, #0x100\n"
     ".irp n, " ALL_OF_16 "\nstr p\\n, [x0, #\\n, mul vl]\n.endr\n"
     "add x0, x17, #0x2, lsl #12\nadd x0, x0, #0x300\nrdffr p0.b\nstr p0, [x0]\n");

static bool has_sve;
static size_t vector_bytes = 16;

__attribute__((target("+sve"))) static size_t sve_bytes(void)
{
	size_t bytes;

	__asm__("cntb %0" : "=r"(bytes));
	return bytes;
}

static void choose(struct self_worker *worker, struct registers *registers)
{
	uint64_t *words = (uint64_t *)registers;

	for (size_t i = 0; i < sizeof(*registers) / sizeof(*words); i++)
		words[i] = self_random(worker) << 32 ^ self_random(worker);
	registers->flags &= 0xf0000000;
	registers->fpcr = (self_random(worker) % 8) << 22; /* rounding, flush to zero */
	registers->fpsr &= 0x0800009f;
	memset(registers->ffr, 0xff, sizeof(registers->ffr));
}

static void compare(const struct registers *in, const struct registers *out)
{
	SELF_CHECK(memcmp(in->general, out->general, sizeof(in->general)) == 0);
	SELF_CHECK(in->flags == out->flags);
	SELF_CHECK(in->fpcr == out->fpcr);
	SELF_CHECK(in->fpsr == out->fpsr);
	SELF_CHECK(memcmp(in->vector, out->vector, 32 * vector_bytes) == 0);
	if (!has_sve)
		return;
	SELF_CHECK(memcmp(in->predicate, out->predicate, 16 * vector_bytes / 8) == 0);
	SELF_CHECK(memcmp(in->ffr, out->ffr, vector_bytes / 8) == 0);
}

static void spin(const struct registers *in, struct registers *out, long spins)
{
	(has_sve ? spin_sve : spin_simd)(in, out, spins);
}

static const char *find_vectors(void)
{
	has_sve = getauxval(AT_HWCAP) & HWCAP_SVE;
	if (has_sve)
		vector_bytes = sve_bytes();
	return has_sve ? "sve" : "simd";
}

#endif
