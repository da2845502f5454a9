/* SPDX-License-Identifier: MIT */
/*
 * pattern.c - searches all memory of a process for words that may be one of a few pointers. It
 * reads a hundred megabytes at a time, so each instruction per word matters.
 *
 * It uses the compiler's vectors and works in blocks. It tests only whether any word of a block
 * fits; a second, rare search finds which one. The loop exists twice, once for CPUs with wider
 * registers.
 */
#include "arch.h"

#define LANES 4
#define BLOCK (4 * LANES)

typedef uint64_t vector
	__attribute__((vector_size(LANES * sizeof(uint64_t)), aligned(8), may_alias));

static inline __attribute__((always_inline)) size_t
find_block(const uint64_t *word, size_t from, size_t count, const struct arch_pattern pattern[2])
{
	const vector zero = {0};
	const vector mask = zero + pattern[0].mask, value = zero + pattern[0].value;
	const vector other_mask = zero + pattern[1].mask, other = zero + pattern[1].value;

	for (; from + BLOCK <= count; from += BLOCK) {
		const vector *const at = (const vector *)(word + from);
		const vector a = at[0], b = at[1], c = at[2], d = at[3];
		const vector hit =
			(vector)(((a & mask) == value) | ((b & mask) == value) |
				 ((c & mask) == value) | ((d & mask) == value) |
				 ((a & other_mask) == other) | ((b & other_mask) == other) |
				 ((c & other_mask) == other) | ((d & other_mask) == other));

		if (hit[0] | hit[1] | hit[2] | hit[3])
			break;
	}
	return from;
}

static size_t find_block_anywhere(const uint64_t *word, size_t from, size_t count,
				  const struct arch_pattern pattern[2])
{
	return find_block(word, from, count, pattern);
}

static __attribute__((target("avx2"))) size_t find_block_avx2(const uint64_t *word, size_t from,
							      size_t count,
							      const struct arch_pattern pattern[2])
{
	return find_block(word, from, count, pattern);
}

static bool fits(uint64_t word, const struct arch_pattern pattern[2])
{
	return (word & pattern[0].mask) == pattern[0].value ||
	       (word & pattern[1].mask) == pattern[1].value;
}

size_t arch_find_pattern(const uint64_t *word, size_t from, size_t count,
			 const struct arch_pattern pattern[2])
{
	while (from < count && !fits(word[from], pattern)) {
		const size_t next = __builtin_cpu_supports("avx2")
					    ? find_block_avx2(word, from, count, pattern)
					    : find_block_anywhere(word, from, count, pattern);

		from = next > from ? next : from + 1;
	}
	return from;
}
