/* SPDX-License-Identifier: MIT */
/*
 * memory.c - functions that the compiler calls where it clears or copies a structure. For this CPU
 * it has no option that makes it do without. Tests, which are linked with a C library, use that
 * library's.
 */
#include <stddef.h>
#include <stdint.h>

#if !__STDC_HOSTED__

void *memset(void *to, int value, size_t size);
void *memcpy(void *restrict to, const void *restrict from, size_t size);

void *memset(void *to, int value, size_t size)
{
	uint8_t *byte = to;

	for (size_t i = 0; i < size; i++)
		byte[i] = (uint8_t)value;
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	uint8_t *byte = to;

	for (size_t i = 0; i < size; i++)
		byte[i] = ((const uint8_t *)from)[i];
	return to;
}

#endif
