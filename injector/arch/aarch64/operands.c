/* SPDX-License-Identifier: MIT */
/*
 * operands.c - aarch64: which callee-saved registers an instruction uses, and where in memory its
 * operand is. Forms are those of the Arm Architecture Reference Manual, C4.1.
 *
 * A field that may be a general register counts as one. Enter at arch_decode_operands.
 */
#include "a64.h"
#include "arch.h"

#define VECTOR (1u << 26)
#define SP 31u

/* Bits by number, for x0 to x30. */
typedef uint32_t registers;

static registers field(uint32_t word, unsigned at)
{
	const uint32_t number = word >> at & 31;

	return number == SP ? 0 : 1u << number;
}

#define D(word) field(word, 0) /* also t */
#define N(word) field(word, 5)
#define A(word) field(word, 10) /* also t2 */
#define M(word) field(word, 16)

struct operands {
	registers used, on_stack;
	registers read; /* those of `used` that are, as far as is looked for */
	struct arch_operands out;
};

static void set_memory(struct operands *operands, uint32_t word, int64_t displacement,
		       unsigned bytes)
{
	operands->used |= N(word);
	operands->read |= N(word);
	operands->out.memory = ARCH_MEMORY_ACCESS;
	operands->out.base = word >> 5 & 31;
	operands->out.displacement = (int32_t)displacement;
	operands->out.bytes = (uint8_t)bytes;
}

/* Registers that are stored or loaded, from the stack or from elsewhere. */
static void set_data(struct operands *operands, uint32_t word, registers data, bool is_whole)
{
	const uint32_t base = word >> 5 & 31;

	if (word & VECTOR)
		return;
	if (is_whole && (base == SP || base == ARCH_DWARF_BP)) {
		operands->on_stack |= data;
		return;
	}
	operands->used |= data;
	if (!(a64_is(word, 0x3a000000, 0x28000000) ? word >> 22 & 1 : word >> 22 & 3))
		operands->read |= data; /* a store */
}

/* The exponent of the size of what is loaded or stored; of vectors one more bit counts. */
static unsigned size_of(uint32_t word)
{
	return word >> 30 | (word & VECTOR ? word >> 23 << 2 & 4 : 0);
}

static void read_pair(struct operands *operands, uint32_t word)
{
	const bool is_after = (word >> 23 & 3) == 1;
	const unsigned scale = word & VECTOR ? 2 + (word >> 30) : 2 + (word >> 31);

	set_memory(operands, word, is_after ? 0 : a64_signed(word, 15, 7) * (1 << scale),
		   2u << scale);
	set_data(operands, word, D(word) | A(word), word >> 30 == 2);
}

/* Addresses from a register with a distance in the instruction, or another register. */
static void read_single(struct operands *operands, uint32_t word)
{
	const unsigned size = size_of(word);
	const bool is_by_number = a64_is(word, 0x3b000000, 0x39000000),
		   is_indexed = a64_is(word, 0x3b200c00, 0x38200800),
		   is_after = (word >> 10 & 3) == 1;
	int64_t displacement = 0;

	if (is_by_number)
		displacement = (int64_t)(word >> 10 & 0xfff) << size;
	else if (!is_indexed && !is_after)
		displacement = a64_signed(word, 12, 9);
	set_memory(operands, word, displacement, 1u << size);
	set_data(operands, word, D(word), size == 3 && !is_indexed);
	if (!is_indexed)
		return;
	operands->used |= M(word);
	operands->read |= M(word);
	operands->out.is_indexed = true;
	operands->out.loads_element = !(word & VECTOR) && (word >> 22 & 3);
}

/* Loads and stores: of the rarer ones all fields count, and any distance. */
static void read_memory(struct operands *operands, uint32_t word)
{
	if (a64_is_literal(word)) {
		operands->out.memory = ARCH_MEMORY_FIXED;
		operands->used |= word & VECTOR ? 0 : D(word);
	} else if (a64_is(word, 0x3a000000, 0x28000000)) {
		read_pair(operands, word);
	} else if (a64_is(word, 0x3b000000, 0x39000000) || a64_is(word, 0x3b200000, 0x38000000) ||
		   a64_is(word, 0x3b200c00, 0x38200800)) {
		read_single(operands, word);
	} else {
		const bool is_vectors = a64_is(word, 0x3e000000, 0x0c000000);

		set_memory(operands, word, 0, is_vectors ? 64 : 16);
		operands->used |= M(word) | (is_vectors ? 0 : D(word) | A(word));
		operands->out.is_indexed = a64_is(word, 0x3f000000, 0x19000000);
	}
}

/* add and sub of a number take an address, but for those that move sp. */
static void read_immediate(struct operands *operands, uint32_t word)
{
	const unsigned form = word >> 23 & 7;

	operands->used |= D(word);
	if (form < 2 || form == 5)
		return; /* adr, adrp, movz and the like */
	operands->read |= N(word) | (form == 7 ? M(word) : 0);
	operands->used |= operands->read;
	if (form == 2 && (word & 31) != SP) {
		const int32_t value = (int32_t)(word >> 10 & 0xfff) << (word >> 22 & 1 ? 12 : 0);

		operands->out.memory = ARCH_MEMORY_ADDRESS;
		operands->out.base = word >> 5 & 31;
		operands->out.displacement = word >> 30 & 1 ? -value : value;
	}
}

static void read_branch(struct operands *operands, uint32_t word)
{
	if (a64_is_by_register(word)) {
		operands->used |= N(word) | (word >> 11 & 1 ? D(word) : 0);
		operands->read |= a64_by_register(word) == A64_RETURN ? 0 : N(word);
	} else if (a64_is(word, 0xff000000, 0xd5000000) || a64_is(word, 0x7c000000, 0x34000000)) {
		operands->used |= D(word); /* mrs, msr; cbz, tbz */
		operands->read |= D(word);
	}
}

/* ccmp may have a number where others have a register. */
static void read_register(struct operands *operands, uint32_t word)
{
	operands->read |= N(word);
	if (!a64_is(word, 0x1fe00800, 0x1a400800))
		operands->read |= M(word);
	if (a64_is(word, 0x1f000000, 0x1b000000))
		operands->read |= A(word);
	operands->used |= D(word) | operands->read;
}

/* Of vectors only what moves or converts between them and general registers. */
static void read_vector(struct operands *operands, uint32_t word)
{
	if (a64_is(word, 0x7f200000, 0x1e000000) || a64_is(word, 0x7f20fc00, 0x1e200000) ||
	    a64_is(word, 0x9fe08400, 0x0e000400))
		operands->used |= D(word) | N(word);
}

static uint16_t kept_of(registers used)
{
	uint16_t kept = used >> ARCH_DWARF_BP & 1 ? 1u << ARCH_KEPT : 0;

	for (unsigned number = 0; number < ARCH_DWARF_BP; number++) {
		const int index = arch_kept_index(number);

		if (used >> number & 1 && index >= 0)
			kept |= (uint16_t)(1u << index);
	}
	return kept;
}

/* xpaclri, xpaci: what compilers have a return address pass that a function asks for. */
static bool strips_address(uint32_t word)
{
	return word == 0xd50320ff || a64_is(word, 0xffffffe0, 0xdac143e0);
}

/* Those of SVE and SME are not known. */
bool arch_decode_operands(const uint8_t *code, size_t room, struct arch_operands *out_operands)
{
	struct operands operands = {0};

	if (room < A64_BYTES)
		return false;
	const uint32_t word = a64_read(code), group = word >> 25 & 15;

	if ((group & 5) == 4)
		read_memory(&operands, word);
	else if ((group & 14) == 8)
		read_immediate(&operands, word);
	else if ((group & 14) == 10)
		read_branch(&operands, word);
	else if ((group & 7) == 5)
		read_register(&operands, word);
	else if ((group & 7) == 7)
		read_vector(&operands, word);
	else
		return false;
	operands.out.kept_used = kept_of(operands.used);
	operands.out.kept_on_stack = kept_of(operands.on_stack);
	operands.out.reads_link = operands.read >> ARCH_DWARF_PC & 1;
	operands.out.has_link_on_stack = operands.on_stack >> ARCH_DWARF_PC & 1;
	operands.out.strips_link = strips_address(word);
	*out_operands = operands.out;
	return true;
}
