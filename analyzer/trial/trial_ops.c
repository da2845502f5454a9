/* SPDX-License-Identifier: MIT */
/* trial_ops.c - see trial_ops.h. A function is known by its symbol (hi_hooks.h). */
#include "trial_ops.h"

#include <stddef.h>
#include <string.h>

#include "hi_hooks.h"

#define SYMBOL(number, id, hook, symbol, kind, where, nesting, nothrow) [number] = symbol,
#define ALIGNMENT_BITS_LEAST 4u /* of every block */

static const char *const symbols[] = {HI_HOOKS(SYMBOL)};

/* The first part of a symbol that occurs in this list decides. */
static const struct {
	const char *part;
	enum hi_trial_op op;
} parts[] = {
	{"realloc", HI_TRIAL_REALLOC},  {"recalloc", HI_TRIAL_REALLOC},
	{"rezalloc", HI_TRIAL_REALLOC}, {"allocx", HI_TRIAL_REALLOC},
	{"align", HI_TRIAL_ALIGNED},    {"valloc", HI_TRIAL_ALIGNED},
	{"calloc", HI_TRIAL_CALLOC},    {"zalloc", HI_TRIAL_CALLOC},
};

enum hi_trial_op trial_ops_of(uint16_t function)
{
	if (function >= sizeof(symbols) / sizeof(*symbols) || function == HI_FN_MALLOCX)
		return HI_TRIAL_MALLOC;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(symbols[function], parts[i].part))
			return parts[i].op;
	return HI_TRIAL_MALLOC;
}

uint8_t trial_ops_alignment(uint16_t function, uint64_t address, uint64_t bytes)
{
	unsigned bits = address ? (unsigned)__builtin_ctzll(address) : 0;
	const unsigned size_bits = bytes ? 63u - (unsigned)__builtin_clzll(bytes) : 0;

	if (function == HI_FN_VALLOC || function == HI_FN_PVALLOC)
		return HI_TRIAL_ALIGNMENT_BITS_MAX;
	bits = bits < size_bits ? bits : size_bits;
	bits = bits < HI_TRIAL_ALIGNMENT_BITS_MAX ? bits : HI_TRIAL_ALIGNMENT_BITS_MAX;
	return (uint8_t)(bits > ALIGNMENT_BITS_LEAST ? bits : ALIGNMENT_BITS_LEAST);
}
