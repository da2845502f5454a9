// SPDX-License-Identifier: MIT
// Pointers that are stored as something else, and those with a mark in their lowest bits.
// want: direct xor_it 111 1, direct mark_high 113 1, direct halve 114 1
#include "leaky.h"

static uintptr_t masked, low, high;
static uint32_t half[4];

static APART void xor_it(void)
{
	masked = (uintptr_t)used(malloc(111)) ^ 0x5555555555555555;
}

static APART void mark_low(void)
{
	low = (uintptr_t)used(malloc(112)) | 3;
}

static APART void mark_high(void)
{
	high = (uintptr_t)used(malloc(113)) | (uintptr_t)1 << 62;
}

static APART void halve(void)
{
	const uintptr_t block = (uintptr_t)used(malloc(114));

	half[0] = (uint32_t)block;
	half[2] = (uint32_t)(block >> 32);
}

int main(void)
{
	xor_it();
	mark_low();
	mark_high();
	halve();
	used(&masked);
	used(&low);
	used(&high);
	used(&half);
	wipe();
	return 0;
}
