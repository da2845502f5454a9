/* SPDX-License-Identifier: MIT */
/* searches.c - aarch64: searches all memory of a process for what may be one of a few addresses. */
#include "a64.h"
#include "arch.h"

#define PAGE 4096u /* of adrp, whatever those of the kernel are */

size_t arch_find_pattern(const uint64_t *word, size_t from, size_t count,
			 const struct arch_pattern pattern[2])
{
	while (from < count && (word[from] & pattern[0].mask) != pattern[0].value &&
	       (word[from] & pattern[1].mask) != pattern[1].value)
		from++;
	return from;
}

size_t arch_find_bytes(const uint8_t *byte, size_t from, size_t size, uint32_t value)
{
	for (; from + sizeof(value) <= size; from++)
		if (a64_read(byte + from) == value)
			return from;
	return size;
}

/* Offset of the first instruction at or after `from`. */
static size_t first_instruction(size_t from, uint64_t at)
{
	return from + (size_t)(-(at + from) % A64_BYTES);
}

/* An adrp refers to the page that it loads the address of. */
size_t arch_find_operand(const uint8_t *code, size_t from, size_t size, uint64_t at, uint64_t lo,
			 uint64_t span)
{
	for (from = first_instruction(from, at); from + A64_BYTES <= size; from += A64_BYTES) {
		const uint32_t word = a64_read(code + from);
		const uint64_t target = a64_target(word, at + from),
			       page = a64_is_adrp(word) ? lo % PAGE : 0;

		if (target && target - (lo - page) < span + page)
			return from;
	}
	return size;
}

/* What is added to the address of a page follows soon. */
uint64_t arch_operand_target(const uint8_t *code, size_t size, size_t found, uint64_t at)
{
	enum { ADD_WITHIN = 4 };
	const uint32_t word = a64_read(code + found), number = word & 31;
	const uint64_t target = a64_target(word, at + found);

	if (!a64_is_adrp(word))
		return target;
	for (unsigned i = 1; i <= ADD_WITHIN && found + (i + 1) * A64_BYTES <= size; i++) {
		const uint32_t add = a64_read(code + found + i * A64_BYTES);

		if (a64_is(add, 0xffc003e0, 0x91000000 | number << 5))
			return target + (add >> 10 & 0xfff);
	}
	return 0;
}

/* The number of sixteen bits that movz or movk puts into a place of that register; -1: none */
static int32_t part(uint32_t word, unsigned place, uint32_t number)
{
	return a64_is(word, 0xdfe0001f, 0xd2800000 | place << 21 | number)
		       ? (int32_t)(word >> 5 & 0xffff)
		       : -1;
}

/*
 * movz x0, #low; movk x0, #middle, lsl #16; movk x0, #high, lsl #32, in any order. The two higher
 * parts suffice: they are of the 64 KB in which the address lies.
 */
size_t arch_find_made(const uint8_t *code, size_t from, size_t size, uint64_t at, uint64_t lo,
		      uint64_t span)
{
	for (from = first_instruction(from, at); from + 2 * A64_BYTES <= size; from += A64_BYTES) {
		const uint32_t word = a64_read(code + from),
			       next = a64_read(code + from + A64_BYTES), number = word & 31;
		const bool is_up = part(word, 1, number) >= 0;
		const int32_t middle = part(is_up ? word : next, 1, number),
			      high = part(is_up ? next : word, 2, number);
		const uint64_t made = (uint64_t)(uint32_t)high << 32 | (uint64_t)(uint32_t)middle
									       << 16,
			       begin = lo & 0xffffffff0000;

		if (middle >= 0 && high >= 0 && made - begin < span + lo % 0x10000)
			return from;
	}
	return size;
}
