/* SPDX-License-Identifier: MIT */
/*
 * calls.c - the forms of the call instruction (Intel SDM, volume 2: CALL, and table 2-2, addressing
 * forms with the ModR/M byte).
 */
#include "arch.h"

#include <string.h>

#define CALL_RELATIVE 0xe8
#define CALL_RELATIVE_BYTES 5
#define GROUP_5 0xff
#define GROUP_5_CALL 2
#define WITH_SIB 4
#define NO_BASE 5 /* a displacement in place of the base */

/*
 * Bytes of a GROUP_5 instruction whose second byte is modrm, and whose third is sib if it has one.
 */
static unsigned length(uint8_t modrm, uint8_t sib)
{
	const unsigned mode = modrm >> 6, place = modrm & 7;
	const unsigned base = 2 + (mode != 3 && place == WITH_SIB);

	switch (mode) {
	case 0:
		return place == NO_BASE || (place == WITH_SIB && (sib & 7) == NO_BASE) ? base + 4
										       : base;
	case 1:
		return base + 1;
	case 2:
		return base + 4;
	default:
		return base;
	}
}

/* Only calls without memory operands: through rbx and, with a prefix, through r12 to r15. */
size_t arch_find_kept_call(const uint8_t *code, size_t from, size_t size)
{
	static const uint8_t by_bx[] = {GROUP_5, 0xd3}, by_r12[] = {0x41, GROUP_5, 0xd4};

	for (; from + sizeof(by_r12) <= size; from++)
		if (!memcmp(code + from, by_bx, sizeof(by_bx)) ||
		    (!memcmp(code + from, by_r12, 2) && (code[from + 2] & 0xfc) == by_r12[2]))
			return from;
	return size;
}

unsigned arch_kept_call_register(const uint8_t *code)
{
	return code[0] == GROUP_5 ? 0 : (code[2] & 3) + 1u;
}

/* PHP's VM has r14 and r15, GHC's code all but rbx as a rule, Swift r12 to r14. */
unsigned arch_kept_rank(unsigned kept)
{
	static const unsigned rank[ARCH_KEPT] = {0, 1, 3, 4, 2};

	return rank[kept];
}

bool arch_ends_in_call(const uint8_t before[ARCH_CALL_MAX])
{
	const uint8_t *end = before + ARCH_CALL_MAX;

	if (end[-CALL_RELATIVE_BYTES] == CALL_RELATIVE)
		return true;
	for (unsigned bytes = 2; bytes < ARCH_CALL_MAX; bytes++) {
		const uint8_t *at = end - bytes;

		if (at[0] == GROUP_5 && (at[1] >> 3 & 7) == GROUP_5_CALL &&
		    length(at[1], bytes > 2 ? at[2] : 0) == bytes)
			return true;
	}
	return false;
}
