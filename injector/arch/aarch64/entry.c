/* SPDX-License-Identifier: MIT */
/*
 * entry.c - aarch64: jumps, and the first instruction of a function, which one of them replaces.
 * How it is executed elsewhere: moved.c.
 *
 * CODE THAT CHANGES. A word may be replaced while other threads execute it only if both the old and
 * the new one are of B, BL, BRK, HVC, ISB, NOP, SMC and SVC; of any other a thread may execute
 * anything until it has synchronized its context (Arm Architecture Reference Manual, B2.2.5,
 * "Concurrent modification and execution of instructions"). The first instruction of a function may
 * be any. So no word is replaced under threads, nor are all of them stopped: the page of the jump
 * is another page, which no thread has executed when it is written, and is moved to the address at
 * once (code_swap.h). What a thread has fetched before comes from the old page, which is as right
 * then.
 *
 * The instruction cache need not agree with the data cache (the same manual, B2.7). What is written
 * to a process through /proc/PID/mem the kernel cleans to the point of unification, and invalidates
 * (arch/arm64/mm/flush.c: copy_to_user_page, which calls sync_icache_aliases). Of pages of the
 * memfd, and of pages that are moved, it does so when they are first mapped for execution (the same
 * file,
 * __sync_icache_dcache).
 */
#include <string.h>

#include "a64.h"
#include "arch.h"
#include "moved.h"

#define LDR_X16_8 0x58000050u /* ldr x16, .+8 */
#define BR_X16 0xd61f0200u
#define SIGNS_BY_A 0xd503233fu   /* paciasp */
#define SIGNS_BY_B 0xd503237fu   /* pacibsp */
#define UNSIGNS_BY_A 0xd50323bfu /* autiasp */
#define UNSIGNS_BY_B 0xd50323ffu /* autibsp */

bool arch_make_jump(uint8_t *out, size_t size, uint64_t from, uint64_t to)
{
	const uint32_t jump = a64_b(from, to);

	if (size != ARCH_JUMP_BYTES || !jump)
		return false;
	memcpy(out, &jump, sizeof(jump));
	return true;
}

/* By x16, which a linker may use between a call and the function. */
void arch_make_far_jump(uint8_t out[ARCH_FAR_JUMP_BYTES], uint64_t to)
{
	const uint32_t jump[] = {LDR_X16_8, BR_X16};

	memcpy(out, jump, sizeof(jump));
	memcpy(out + sizeof(jump), &to, sizeof(to));
}

static bool signs(uint32_t word)
{
	return word == SIGNS_BY_A || word == SIGNS_BY_B;
}

/*
 * bti, or what signs x30. Whether the page is one where these are checked (PROT_BTI) does not
 * matter: the next word is as good a place.
 */
struct arch_landing arch_landing(const uint8_t code[ARCH_ENTRY_MAX])
{
	const uint32_t word = a64_read(code);

	return (struct arch_landing){.size = a64_is_bti(word) || signs(word) ? A64_BYTES : 0,
				     .signs = signs(word)};
}

/* sp, by which x30 was signed, is still the same. */
void arch_make_landed(const uint8_t code[ARCH_ENTRY_MAX], uint8_t *out)
{
	const uint32_t word = a64_read(code), back = word == SIGNS_BY_A   ? UNSIGNS_BY_A
						     : word == SIGNS_BY_B ? UNSIGNS_BY_B
									  : A64_NOP;

	memcpy(out, &back, sizeof(back));
}

size_t arch_entry_size(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc)
{
	uint8_t out[ARCH_EXIT_BYTES];

	return arch_make_exit(code, pc, pc, out) ? A64_BYTES : 0;
}

uint64_t arch_entry_target(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc)
{
	const struct arch_landing landing = arch_landing(code);
	const uint32_t word = a64_read(code + landing.size);

	return a64_is_b(word) && !landing.signs ? a64_target(word, pc + landing.size) : 0;
}

/* For a call the landing pad is a part of what the function does, if it signs. */
bool arch_make_exit(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc, uint64_t at,
		    uint8_t out[ARCH_EXIT_BYTES])
{
	const struct arch_landing landing = arch_landing(code);
	const size_t begun = landing.signs ? landing.size : 0;

	arch_fill(out, ARCH_EXIT_BYTES);
	memcpy(out, code, begun);
	return moved_write(a64_read(code + landing.size), pc + landing.size, at + begun,
			   (struct moved_room){out + begun, ARCH_EXIT_BYTES - begun});
}

bool arch_punned_reach(const uint8_t code[ARCH_ENTRY_MAX], size_t size, size_t jump_size,
		       uint64_t pc, uint64_t *out_lo, uint64_t *out_hi)
{
	(void)code, (void)size, (void)jump_size, (void)pc, (void)out_lo, (void)out_hi;
	return false; /* every instruction has room for a jump */
}

/* A breakpoint has no byte of its own: it is found as code that has changed. */
bool arch_is_breakpoint(uint8_t byte)
{
	(void)byte;
	return false;
}

void arch_fill(uint8_t *code, size_t size)
{
	const uint32_t word = A64_BRK;

	for (size_t at = 0; at < size; at += sizeof(word))
		memcpy(code + at, &word, size - at < sizeof(word) ? size - at : sizeof(word));
}

/* adrp xN, page; ldr x0, [xN, #offset]; ret, perhaps after a landing pad */
uint64_t arch_returned_word(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc)
{
	const size_t pad = a64_is_bti(a64_read(code)) ? A64_BYTES : 0;
	const uint32_t page = a64_read(code + pad), load = a64_read(code + pad + A64_BYTES);

	if (!a64_is_adrp(page) || !a64_is(load, 0xffc0001f, 0xf9400000) ||
	    (load >> 5 & 31) != (page & 31) || a64_read(code + pad + 2 * A64_BYTES) != A64_RET)
		return 0;
	return a64_target(page, pc + pad) + (load >> 10 & 0xfff) * 8;
}
