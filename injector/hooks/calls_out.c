/* SPDX-License-Identifier: MIT */
/* calls_out.c - see calls_out.h. Enter at calls_out(). */
#include "calls_out.h"

#include "arch.h"
#include "cfi.h"
#include "elf_segment.h"

#define FUNCTION_BYTES_MAX (16u << 10) /* of one function that are examined */
#define UNKNOWN_BYTES_MAX 512u         /* of a function of unknown size */
#define REACHED_MAX 256u               /* functions that one reaches */

struct search {
	const struct elf_image *image;
	const struct eh_frame *frame;
	uint64_t reached[REACHED_MAX]; /* addresses in the file */
	unsigned count;
};

/* False: there are too many. */
static bool note(struct search *search, uint64_t at)
{
	for (unsigned i = 0; i < search->count; i++)
		if (search->reached[i] == at)
			return true;
	if (search->count == REACHED_MAX)
		return false;
	search->reached[search->count++] = at;
	return true;
}

/* One function, or a part of one. */
struct code {
	const uint8_t *bytes;
	uint64_t at, size;
	const struct eh_fde *fde; /* NULL = it has no unwind information */
	bool loads_element;       /* perhaps of the table of a switch */
	bool jumps_by_register;   /* where its frame is gone */
};

/* Is nothing of the function left on the stack, as at its entry? */
static bool is_frame_gone(const struct search *search, const struct code *code, uint64_t pc)
{
	struct cfi_rules rules;

	return code->fde && cfi_find(search->frame, code->fde, pc, &rules) &&
	       !rules.cfa_is_expression && rules.cfa_register == ARCH_DWARF_SP &&
	       rules.cfa_offset == ARCH_ENTRY_DEPTH;
}

/*
 * Does a jump to an unknown target lead out? Through a slot it does. Others may be those of a
 * switch: through a table, or to the sum of a table's address and an element. A call at a
 * function's end comes when its frame is gone, and takes the target from where a register points,
 * or is to the address that is in one.
 */
static bool jumps_out(const struct search *search, struct code *code, uint64_t pc,
		      const struct arch_instruction *instruction,
		      const struct arch_operands *operands)
{
	if (instruction->slot)
		return true;
	if (operands->memory == ARCH_MEMORY_FIXED || !is_frame_gone(search, code, pc))
		return false;
	code->jumps_by_register |= operands->memory == ARCH_MEMORY_NONE;
	return operands->memory == ARCH_MEMORY_ACCESS && !operands->loads_element;
}

/* The instruction leads to a place that is not known. Notes where else it leads to. */
static bool is_way_out(struct search *search, struct code *code, uint64_t pc,
		       const struct arch_instruction *instruction,
		       const struct arch_operands *operands)
{
	const bool is_jump =
		instruction->flow == ARCH_FLOW_JUMP || instruction->flow == ARCH_FLOW_BRANCH;

	code->loads_element |= operands->loads_element;
	if (!is_jump && instruction->flow != ARCH_FLOW_CALL)
		return false;
	if (!instruction->target)
		return !is_jump || jumps_out(search, code, pc, instruction, operands);
	return instruction->target - code->at >= code->size && !note(search, instruction->target);
}

/* Does the function at this address call what is not known? Notes what it calls of the image. */
static bool leaves(struct search *search, uint64_t at)
{
	const uint64_t room = elf_segment_room(search->image->elf, at);
	struct code code = {.at = at, .fde = eh_frame_find(search->frame, at)};
	struct arch_instruction instruction;
	struct arch_operands operands;
	const void *bytes;

	code.size = code.fde ? code.fde->hi - at : UNKNOWN_BYTES_MAX;
	code.size = code.size < room ? code.size : room;
	code.size = code.size < FUNCTION_BYTES_MAX ? code.size : FUNCTION_BYTES_MAX;
	if (!code.size || elf_segment_bytes(search->image->elf, at, code.size, &bytes) < 0)
		return true; /* not code of this object */
	code.bytes = bytes;
	for (size_t offset = 0; offset < code.size; offset += instruction.size) {
		const uint8_t *here = code.bytes + offset;
		const size_t left = code.size - offset;

		if (!arch_decode(here, left, at + offset, &instruction) ||
		    !arch_decode_operands(here, left, &operands)) {
			instruction.size = 1;
			continue;
		}
		if (is_way_out(search, &code, at + offset, &instruction, &operands))
			return true;
	}
	return code.jumps_by_register && !code.loads_element;
}

bool calls_out(const struct elf_image *image, const struct eh_frame *frame, remote_addr function)
{
	struct search search = {.image = image, .frame = frame};

	(void)note(&search, function - image->bias);
	for (unsigned i = 0; i < search.count; i++)
		if (leaves(&search, search.reached[i]))
			return true;
	return false;
}
