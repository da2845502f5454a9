/* SPDX-License-Identifier: MIT */
/*
 * entry.c - moves the first instruction of a function.
 *
 * The instruction may be any that does the same elsewhere. A jump keeps its target. An operand
 * relative to pc is readdressed from the new place. So a jump through a word or a register can be
 * moved, too, and so can a return: where they lead does not depend on where they are. Not moved are
 * calls, whose return address would be that of the new place, and conditional branches, with which
 * no function begins: it would depend on flags that its caller does not set.
 */
#include <string.h>

#include "arch.h"

#define JUMP 0xe9
#define SHORT_JUMP 0xeb
#define BREAKPOINT 0xcc
/*
 * The address size, which a jump to a distance does not have: linkers write it in front of calls
 * that they have made shorter (x86-64 psABI, "Optimize GOTPCRELX Relocations").
 */
#define PREFIX 0x67

bool arch_make_jump(uint8_t *out, size_t size, uint64_t from, uint64_t to)
{
	const int64_t distance = (int64_t)(to - (from + size));
	const int32_t near_distance = (int32_t)distance;
	const size_t prefixes = size > ARCH_JUMP_BYTES ? size - ARCH_JUMP_BYTES : 0;

	if (size == ARCH_SHORT_JUMP_BYTES ? distance != (int8_t)distance
					  : distance != near_distance)
		return false;
	memset(out, PREFIX, prefixes);
	out[prefixes] = size == ARCH_SHORT_JUMP_BYTES ? SHORT_JUMP : JUMP;
	memcpy(out + prefixes + 1, &near_distance, size - prefixes - 1);
	return true;
}

/* jmp *0(%rip), and the address after it */
void arch_make_far_jump(uint8_t out[ARCH_FAR_JUMP_BYTES], uint64_t to)
{
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};

	arch_fill(out, ARCH_FAR_JUMP_BYTES);
	memcpy(out, jump, sizeof(jump));
	memcpy(out + sizeof(jump), &to, sizeof(to));
}

static bool decode(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc, struct arch_instruction *out)
{
	return arch_decode(code, ARCH_ENTRY_MAX, pc, out) &&
	       (out->flow == ARCH_FLOW_NEXT || out->flow == ARCH_FLOW_JUMP ||
		out->flow == ARCH_FLOW_RETURN);
}

/* Is it a jump to a place that it names itself? That one is not copied but made anew. */
static bool is_plain_jump(const struct arch_instruction *instruction)
{
	return instruction->flow == ARCH_FLOW_JUMP && instruction->target;
}

/*
 * Linux checks no landing pads of programs (indirect branch tracking), and endbr64 does the same
 * elsewhere: it is moved as any instruction.
 */
struct arch_landing arch_landing(const uint8_t code[ARCH_ENTRY_MAX])
{
	(void)code;
	return (struct arch_landing){0};
}

void arch_make_landed(const uint8_t code[ARCH_ENTRY_MAX], uint8_t *out)
{
	(void)code, (void)out;
}

size_t arch_entry_size(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc)
{
	struct arch_instruction first;

	return decode(code, pc, &first) && (is_plain_jump(&first) ||
					    first.size <= ARCH_EXIT_BYTES - ARCH_JUMP_BYTES)
		       ? first.size
		       : 0;
}

uint64_t arch_entry_target(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc)
{
	struct arch_instruction first;

	return decode(code, pc, &first) && first.flow == ARCH_FLOW_JUMP ? first.target : 0;
}

bool arch_make_exit(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc, uint64_t at,
		    uint8_t out[ARCH_EXIT_BYTES])
{
	struct arch_instruction first;

	if (!arch_entry_size(code, pc) || !decode(code, pc, &first))
		return false;
	memset(out, BREAKPOINT, ARCH_EXIT_BYTES);
	if (is_plain_jump(&first))
		return arch_make_jump(out, ARCH_JUMP_BYTES, at, first.target);
	memcpy(out, code, first.size);
	if (first.pc_relative_at) {
		int32_t distance;

		memcpy(&distance, code + first.pc_relative_at, sizeof(distance));
		const int64_t moved = (int64_t)distance + (int64_t)(pc - at);

		if (moved != (int32_t)moved)
			return false;
		distance = (int32_t)moved;
		memcpy(out + first.pc_relative_at, &distance, sizeof(distance));
	}
	return first.flow != ARCH_FLOW_NEXT ||
	       arch_make_jump(out + first.size, ARCH_JUMP_BYTES, at + first.size, pc + first.size);
}

bool arch_punned_reach(const uint8_t code[ARCH_ENTRY_MAX], size_t size, size_t jump_size,
		       uint64_t pc, uint64_t *out_lo, uint64_t *out_hi)
{
	uint8_t jump[ARCH_PADDED_JUMP_MAX] = {0};
	const size_t distance_at = jump_size - sizeof(int32_t);
	int32_t least;

	if (size < distance_at || size >= ARCH_JUMP_BYTES || jump_size > sizeof(jump))
		return false;
	memcpy(jump + size, code + size, jump_size - size);
	memcpy(&least, jump + distance_at, sizeof(least));
	*out_lo = pc + jump_size + (uint64_t)(int64_t)least;
	*out_hi = *out_lo + (1ull << 8 * (size - distance_at));
	return *out_lo < ARCH_USER_END && *out_hi < ARCH_USER_END;
}

bool arch_is_breakpoint(uint8_t byte)
{
	return byte == BREAKPOINT;
}

void arch_fill(uint8_t *code, size_t size)
{
	memset(code, BREAKPOINT, size);
}

uint64_t arch_returned_word(const uint8_t code[ARCH_ENTRY_MAX], uint64_t pc)
{
	/* mov N(%rip), %rax */
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa}, load[] = {0x48, 0x8b, 0x05};
	const size_t at = memcmp(code, endbr64, sizeof(endbr64)) == 0 ? sizeof(endbr64) : 0,
		     end = at + sizeof(load) + sizeof(int32_t);
	int32_t distance;

	memcpy(&distance, code + at + sizeof(load), sizeof(distance));
	return memcmp(code + at, load, sizeof(load)) == 0 && code[end] == 0xc3
		       ? pc + end + (uint64_t)(int64_t)distance
		       : 0;
}
