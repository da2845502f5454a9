/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - aarch64: DWARF's register numbers, which of the registers a call preserves, where the
 * frames of signals keep them, and how Go comes back from C.
 */
#include "a64.h"
#include "arch.h"

#define STACK_RETURN_MAX (8 * A64_BYTES)
#define STACK_WORDS_MAX 16u
#define FIRST_KEPT 19
#define SIGNAL_REGISTERS 39 /* siginfo, 22 words of the ucontext, and the fault's address */

int arch_signal_word(uint64_t dwarf)
{
	return dwarf <= ARCH_DWARF_SP ? SIGNAL_REGISTERS + (int)dwarf : -1;
}

/* DW_CFA_AARCH64_negate_ra_state, and ..._with_pc (DWARF for the Arm 64-bit Architecture) */
enum arch_signing arch_signing(uint8_t opcode)
{
	return opcode == 0x2d   ? ARCH_SIGNING_BY_CFA
	       : opcode == 0x2c ? ARCH_SIGNING_OTHER
				: ARCH_SIGNING_NONE;
}

bool arch_is_kept_by_calls(uint64_t dwarf)
{
	return (dwarf >= FIRST_KEPT && dwarf <= ARCH_DWARF_BP) || dwarf == ARCH_DWARF_SP;
}

int arch_kept_index(uint64_t dwarf)
{
	return dwarf >= FIRST_KEPT && dwarf < ARCH_DWARF_BP ? (int)dwarf - FIRST_KEPT : -1;
}

/* Above the frame record (struct hook_call). */
int64_t arch_hook_kept(unsigned index)
{
	return ARCH_HOOK_BP + 16 + 8 * (int64_t)index;
}

int arch_plt_boundary(const uint8_t *expression, size_t size)
{
	(void)expression, (void)size;
	return -1;
}

/* ldr from [sp, #offset] */
static bool is_load_from_stack(uint32_t word)
{
	return a64_is(word, 0xffc003e0, 0xf94003e0);
}

static uint32_t word_of_load(uint32_t word)
{
	return word >> 10 & 0xfff;
}

/*
 * ldr g, [sp, #owner]; ldr end, [g, #8]; ldr distance, [sp, #distance]; sub end, end, distance. In
 * between Go keeps the result, and stores g in its thread-local storage.
 */
static bool is_from_other_stack(const uint8_t *code, size_t size, struct arch_stack_return *back)
{
	enum { OWNER, END, DISTANCE, DIFFERENCE } next = OWNER;
	unsigned owner = 0, end = 0, distance = 0;

	for (size_t at = 0; at + A64_BYTES <= size && at < STACK_RETURN_MAX; at += A64_BYTES) {
		const uint32_t word = a64_read(code + at);

		if (next == OWNER && is_load_from_stack(word)) {
			owner = word & 31;
			back->owner_word = (uint8_t)word_of_load(word);
			next = word_of_load(word) < STACK_WORDS_MAX ? END : OWNER;
		} else if (next == END && a64_is(word, 0xffffffe0, 0xf9400400 | owner << 5)) {
			end = word & 31;
			next = DISTANCE;
		} else if (next == DISTANCE && is_load_from_stack(word) &&
			   word_of_load(word) < STACK_WORDS_MAX) {
			distance = word & 31;
			back->distance_word = (uint8_t)word_of_load(word);
			next = DIFFERENCE;
		} else if (next == DIFFERENCE &&
			   a64_is(word, 0xffffffe0, 0xcb000000 | distance << 16 | end << 5)) {
			back->kind = ARCH_STACK_OTHER;
			return true;
		}
	}
	return false;
}

/* ldr distance, [sp, #distance]; mov sp, distance */
static bool is_from_spilled(const uint8_t *code, size_t size, struct arch_stack_return *back)
{
	const uint32_t load = size < 2 * A64_BYTES ? 0 : a64_read(code);

	if (!is_load_from_stack(load) || word_of_load(load) >= STACK_WORDS_MAX ||
	    a64_read(code + A64_BYTES) != (0x9100001f | (load & 31) << 5))
		return false;
	*back = (struct arch_stack_return){.kind = ARCH_STACK_SPILLED,
					   .distance_word = (uint8_t)word_of_load(load)};
	return true;
}

bool arch_is_stack_return(const uint8_t *code, size_t size, size_t after,
			  struct arch_stack_return *out_back)
{
	struct arch_stack_return back = {.kind = ARCH_STACK_OTHER};

	if (after % A64_BYTES || after < ARCH_CALL_MAX || after >= size ||
	    !arch_ends_in_call(code + after - ARCH_CALL_MAX) ||
	    !(is_from_other_stack(code + after, size - after, &back) ||
	      is_from_spilled(code + after, size - after, &back)))
		return false;
	*out_back = back;
	return true;
}
