/* SPDX-License-Identifier: MIT */
/* forwarding.c - see forwarding.h. Enter at forwarding_of. */
#include "forwarding.h"

#include "arch.h"
#include "cfi.h"
#include "elf_segment.h"
#include "hi_wire.h"

#define PARTS_MAX 1024u           /* of a function, and functions that it jumps to */
#define PART_BYTES_MAX (1u << 20) /* of each */
#define WORD ((int64_t)sizeof(uint64_t))

struct search {
	const struct elf_image *image;
	const struct eh_frame *frame;
	uint16_t replaced; /* registers, as of struct arch_operands */
	const struct eh_fde *part[PARTS_MAX];
	unsigned count;
};

/* What is known of one part while its instructions are read, one after the other. */
struct reader {
	struct cfi cfi;
	struct cfi_rules now, next; /* rules at the instruction, and from next_pc on */
	uint64_t next_pc;
	bool has_next;
	uint16_t on_stack, saved; /* registers that were on the stack; that unwind rows say are */
	bool takes_address, asks_for_vectors;
	bool has_link; /* the register of the return address may still have it */
};

static enum forwarding add_part(struct search *search, uint64_t at)
{
	const struct eh_fde *fde = eh_frame_find(search->frame, at);

	if (!fde)
		return FORWARDING_WORKS; /* a stub: what it leads to is of another object */
	for (unsigned i = 0; i < search->count; i++)
		if (search->part[i] == fde)
			return FORWARDING_WORKS;
	if (search->count == PARTS_MAX)
		return FORWARDING_UNKNOWN;
	search->part[search->count++] = fde;
	return FORWARDING_WORKS;
}

static bool read_next(struct reader *reader)
{
	const struct cfi_rules *rules;

	reader->has_next = cfi_next(&reader->cfi, &reader->next_pc, &rules);
	if (reader->has_next && rules)
		reader->next = *rules;
	return !reader->has_next || rules;
}

/* Proceeds to the rules of the instruction at pc. False: the unwind information is malformed. */
static bool go_to(struct reader *reader, uint64_t pc)
{
	while (reader->has_next && reader->next_pc <= pc) {
		reader->now = reader->next;
		if (!read_next(reader))
			return false;
	}
	return true;
}

/* Registers that are saved at this place, as of struct arch_operands. */
static uint16_t saved_by(const struct cfi_rules *rules)
{
	uint16_t saved = rules->bp.where != CFI_SAME ? 1u << ARCH_KEPT : 0;

	for (unsigned i = 0; i < ARCH_KEPT; i++)
		if (rules->kept[i].where != CFI_SAME)
			saved |= (uint16_t)(1u << i);
	return saved;
}

/* offset: of the operand from where the caller's stack ends, at which arguments begin. */
static enum forwarding judge_operand(struct reader *reader, const struct arch_operands *operands,
				     int64_t offset)
{
	if (HI_ARCH_LINK_REGISTER ? offset < 0 : offset < -WORD)
		return FORWARDING_WORKS;
	if (offset < 0)
		return operands->memory == ARCH_MEMORY_ADDRESS || operands->is_indexed
			       ? FORWARDING_WORKS
			       : FORWARDING_RETURN_ADDRESS;
	if (operands->memory == ARCH_MEMORY_ADDRESS || operands->is_indexed) {
		reader->takes_address = true;
		return FORWARDING_WORKS;
	}
	return offset + operands->bytes > HI_ARCH_STACK_ARGUMENTS * WORD ? FORWARDING_TOO_MANY
									 : FORWARDING_WORKS;
}

/* offset: as above; of an operand in memory, if is_in_frame. */
static bool reads_link(const struct reader *reader, const struct arch_operands *operands,
		       bool is_in_frame, int64_t offset)
{
	const struct cfi_saved *saved = &reader->now.pc;

	if (operands->strips_link ||
	    (operands->reads_link && (reader->has_link || saved->where == CFI_SAME)))
		return true;
	return is_in_frame && operands->memory == ARCH_MEMORY_ACCESS && !operands->is_indexed &&
	       !operands->has_link_on_stack && saved->where == CFI_AT_CFA &&
	       saved->offset >= offset && saved->offset < offset + operands->bytes;
}

static enum forwarding judge(const struct search *search, struct reader *reader,
			     const struct arch_operands *operands)
{
	const struct cfi_rules *now = &reader->now;
	const uint16_t saved = saved_by(now);
	const bool is_in_frame = operands->memory != ARCH_MEMORY_NONE &&
				 operands->memory != ARCH_MEMORY_FIXED && !now->cfa_is_expression &&
				 operands->base == now->cfa_register;
	const int64_t offset = operands->displacement - now->cfa_offset;

	reader->saved |= saved;
	reader->on_stack |= operands->kept_on_stack;
	reader->asks_for_vectors |= operands->asks_for_vectors;
	if (operands->kept_used & search->replaced & (uint16_t)~saved)
		return FORWARDING_REGISTER;
	if (HI_ARCH_LINK_REGISTER && reads_link(reader, operands, is_in_frame, offset))
		return FORWARDING_RETURN_ADDRESS;
	if (operands->memory == ARCH_MEMORY_NONE || operands->memory == ARCH_MEMORY_FIXED)
		return FORWARDING_WORKS;
	if (now->cfa_is_expression)
		return FORWARDING_UNKNOWN;
	return is_in_frame ? judge_operand(reader, operands, offset) : FORWARDING_WORKS;
}

static enum forwarding read_instruction(struct search *search, struct reader *reader,
					const uint8_t *code, size_t room, uint64_t pc,
					size_t *out_size)
{
	struct arch_instruction instruction;
	struct arch_operands operands;
	enum forwarding result;

	if (!go_to(reader, pc) || !arch_decode(code, room, pc, &instruction) ||
	    !arch_decode_operands(code, room, &operands))
		return FORWARDING_UNKNOWN;
	*out_size = instruction.size;
	result = judge(search, reader, &operands);
	reader->has_link &=
		instruction.flow != ARCH_FLOW_CALL && instruction.link_word.kind != ARCH_WORD_LOST;
	if (!result && instruction.target &&
	    (instruction.flow == ARCH_FLOW_JUMP || instruction.flow == ARCH_FLOW_BRANCH))
		result = add_part(search, instruction.target);
	return result;
}

/*
 * A function that is jumped to at the end of another has the arguments on the stack that this one
 * had. If it has a variable number of them, and this one has not, they are in registers.
 */
static enum forwarding read_part(struct search *search, const struct eh_fde *fde)
{
	const uint64_t size = fde->hi - fde->lo;
	struct reader reader = {.next_pc = fde->lo};
	enum forwarding result = FORWARDING_WORKS;
	struct cfi_rules initial;
	const void *bytes;
	size_t step = 0;

	if (size > PART_BYTES_MAX || !search->frame->cie[fde->cie].is_usable ||
	    elf_segment_bytes(search->image->elf, fde->lo, size, &bytes) < 0 ||
	    !cfi_initial(&search->frame->section, &search->frame->cie[fde->cie], &initial))
		return FORWARDING_UNKNOWN;
	reader.now = initial;
	cfi_start(&reader.cfi, search->frame, fde, &initial);
	if (!read_next(&reader))
		return FORWARDING_UNKNOWN;
	reader.has_link = reader.next.pc.where == CFI_SAME;
	for (uint64_t at = 0; at < size && !result; at += step)
		result = read_instruction(search, &reader, (const uint8_t *)bytes + at, size - at,
					  fde->lo + at, &step);
	if (result)
		return result;
	if (reader.on_stack & (uint16_t)~reader.saved & search->replaced)
		return FORWARDING_REGISTER;
	return reader.takes_address && !(fde != search->part[0] && reader.asks_for_vectors)
		       ? FORWARDING_ADDRESS
		       : FORWARDING_WORKS;
}

enum forwarding forwarding_of(const struct elf_image *image, const struct eh_frame *frame,
			      remote_addr function, unsigned kept)
{
	struct search search = {.image = image,
				.frame = frame,
				.replaced = (uint16_t)(1u << kept | 1u << ARCH_KEPT)};
	enum forwarding result = add_part(&search, function - image->bias);

	if (!search.count)
		result = FORWARDING_UNKNOWN;
	for (unsigned i = 0; i < search.count && !result; i++)
		result = read_part(&search, search.part[i]);
	return result;
}

const char *forwarding_text(enum forwarding forwarding)
{
	static const char *const texts[] = {
		[FORWARDING_WORKS] = "nothing",
		[FORWARDING_UNKNOWN] = "its code, with its unwind information, does not show which "
				       "arguments on the stack it takes",
		[FORWARDING_TOO_MANY] =
			"it takes more arguments on the stack than a hook passes on",
		[FORWARDING_ADDRESS] = "it takes the address of arguments on the stack, as for a "
				       "structure or a variable number of arguments, so that it is "
				       "not known how many a hook would have to pass on",
		[FORWARDING_RETURN_ADDRESS] = "it reads its return address, which would not be its "
					      "caller's",
		[FORWARDING_REGISTER] = "it has a global variable in a register that a hook needs"};

	return texts[forwarding];
}
