/* SPDX-License-Identifier: MIT */
/* doubts.c - see doubts.h. */
#include "doubts.h"

#include <string.h>

#include "arch.h"
#include "hi_wire.h"

#define WORD_BYTES 8u
/* The kernel maps nothing above, unless asked for that address. */
#define ADDRESS_BITS 48u
#define ADDRESS_BITS_MAX 56u
#define MIDDLE_SHIFT 16                /* four bytes that no mark in an address changes */
#define GATE_SPAN (8u * HI_PAGE_BYTES) /* a power of two that all entries fit into */
_Static_assert(HI_GATE_USED_BYTES <= GATE_SPAN, "span of operands");

static bool is_entry(const struct doubts_gate *gate, remote_addr address)
{
	const uint64_t distance = address - gate->gate;
	return distance < (uint64_t)gate->count * HI_GATE_STRIDE && distance % HI_GATE_STRIDE == 0;
}

/* An address without marks. Gate entries are aligned by much more than 8. */
static remote_addr unmarked(const struct doubts_gate *gate, uint64_t word)
{
	const unsigned bits = gate->gate >> ADDRESS_BITS ? ADDRESS_BITS_MAX : ADDRESS_BITS;

	return word & ((1ull << bits) - WORD_BYTES);
}

static bool is_own(const struct doubts_gate *gate, remote_addr at)
{
	return at >= gate->skip_lo && at < gate->skip_hi;
}

/* Counts eight bytes of the target at address `at`, if they are a doubtful copy. */
static void judge_word(struct doubts *doubts, const struct doubts_gate *gate, const uint8_t *bytes,
		       remote_addr at, bool is_code)
{
	uint64_t word;
	memcpy(&word, bytes, sizeof(word));
	const bool is_aligned = at % WORD_BYTES == 0;
	if (!is_entry(gate, unmarked(gate, word)) || is_own(gate, at) ||
	    (is_aligned && is_entry(gate, word)))
		return;
	doubts->count[is_code ? DOUBT_CODE : is_aligned ? DOUBT_TAGGED : DOUBT_UNALIGNED]++;
}

static void find_words(struct doubts *doubts, const struct doubts_gate *gate, const uint8_t *bytes,
		       size_t size, remote_addr at, bool is_code, uint32_t middle)
{
	const size_t before = MIDDLE_SHIFT / 8;
	for (size_t i = before; (i = arch_find_bytes(bytes, i, size, middle)) < size; i++)
		if (i - before + WORD_BYTES <= size)
			judge_word(doubts, gate, bytes + i - before, at + i - before, is_code);
}

static void find_operands(struct doubts *doubts, const struct doubts_gate *gate,
			  const uint8_t *code, size_t size, remote_addr at)
{
	for (size_t i = 0; (i = arch_find_operand(code, i, size, at, gate->gate, GATE_SPAN)) < size;
	     i++) {
		const remote_addr target = arch_operand_target(code, size, i, at);
		if ((!target || is_entry(gate, target)) && !is_own(gate, at + i))
			doubts->count[DOUBT_CODE]++;
	}
}

static void find_made(struct doubts *doubts, const struct doubts_gate *gate, const uint8_t *code,
		      size_t size, remote_addr at)
{
	const uint64_t span = (uint64_t)gate->count * HI_GATE_STRIDE;
	for (size_t i = 0; (i = arch_find_made(code, i, size, at, gate->gate, span)) < size; i++)
		doubts->count[DOUBT_CODE] += !is_own(gate, at + i);
}

void doubts_find(struct doubts *doubts, const struct doubts_gate *gate, const uint8_t *bytes,
		 size_t size, remote_addr at, bool is_code)
{
	const uint32_t first = (uint32_t)(gate->gate >> MIDDLE_SHIFT),
		       last = (uint32_t)((gate->gate + HI_GATE_BYTES - 1) >> MIDDLE_SHIFT);
	find_words(doubts, gate, bytes, size, at, is_code, first);
	if (last != first)
		find_words(doubts, gate, bytes, size, at, is_code, last);
	if (!is_code)
		return;
	find_operands(doubts, gate, bytes, size, at);
	find_made(doubts, gate, bytes, size, at);
}

bool doubts_any(const struct doubts *doubts)
{
	return doubts_text(doubts) != NULL;
}

const char *doubts_text(const struct doubts *doubts)
{
	static const char *const text[DOUBTS] = {
		[DOUBT_UNALIGNED] = "lie where no pointer is aligned, and are not changed",
		[DOUBT_TAGGED] =
			"have marks in bits that addresses do not use, and are not changed",
		[DOUBT_CODE] = "are in code that the program made, and code is not changed",
		[DOUBT_READ_ONLY] = "are in shared memory that is read only, and cannot be changed",
		[DOUBT_UNREAD] = "may be in pages that could not be read",
	};
	static const enum doubt order[] = {DOUBT_CODE, DOUBT_TAGGED, DOUBT_UNALIGNED,
					   DOUBT_READ_ONLY, DOUBT_UNREAD};
	for (size_t i = 0; i < DOUBTS; i++)
		if (doubts->count[order[i]])
			return text[order[i]];
	return NULL;
}
