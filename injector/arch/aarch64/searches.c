/* SPDX-License-Identifier: MIT */
/* searches.c - aarch64: searches all memory of a process for what may be one of a few addresses. */
#include "a64.h"
#include "arch.h"

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

/* An adrp refers to the page that it loads the address of. */
size_t arch_find_operand(const uint8_t *code, size_t from, size_t size, uint64_t at, uint64_t lo,
			 uint64_t span)
{
	for (from += -(at + from) % A64_BYTES; from + A64_BYTES <= size; from += A64_BYTES) {
		const uint32_t word = a64_read(code + from);
		const uint64_t target = a64_target(word, at + from);

		if (target && target - lo < span)
			return from;
	}
	return size;
}
