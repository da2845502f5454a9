/* SPDX-License-Identifier: MIT */
/* calls.c - aarch64: the forms of a call. */
#include "a64.h"
#include "arch.h"

#define FIRST_KEPT 19u

static unsigned called_register(uint32_t word)
{
	return word >> 5 & 31;
}

/* blr, without a check of a signed address. The code begins with an instruction. */
static bool is_kept_call(uint32_t word)
{
	const unsigned number = called_register(word);

	return a64_is(word, 0xfffffc1f, 0xd63f0000) && number >= FIRST_KEPT &&
	       number < FIRST_KEPT + ARCH_KEPT;
}

size_t arch_find_kept_call(const uint8_t *code, size_t from, size_t size)
{
	from = (from + A64_BYTES - 1) & ~(size_t)(A64_BYTES - 1);
	for (; from + A64_BYTES <= size; from += A64_BYTES)
		if (is_kept_call(a64_read(code + from)))
			return from;
	return size;
}

unsigned arch_kept_call_register(const uint8_t *code)
{
	return called_register(a64_read(code)) - FIRST_KEPT;
}

/*
 * Swift has x20 to x22, PHP's VM x27 and x28, Go x28, GHC's code all of them. Compilers take those
 * at both ends of the others first, so that their calls are found.
 */
unsigned arch_kept_rank(unsigned kept)
{
	static const unsigned rank[ARCH_KEPT] = {0, 3, 4, 2, 0, 0, 0, 0, 5, 6};

	return rank[kept];
}

bool arch_ends_in_call(const uint8_t before[ARCH_CALL_MAX])
{
	const uint32_t word = a64_read(before);

	return a64_is_bl(word) || (a64_is_by_register(word) && a64_by_register(word) == A64_BLR);
}
