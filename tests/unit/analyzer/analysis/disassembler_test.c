/* SPDX-License-Identifier: MIT */
/*
 * disassembler_test.c - instructions of each CPU that is known, bytes that are none, and CPUs that
 * are not known.
 */
#include "unit.h"

#include <elf.h>
#include <errno.h>

#include "disassembler.h"

static struct disassembler *open_for(uint16_t machine)
{
	struct disassembler *disassembler;
	const int err = disassembler_open(machine, &disassembler);

	if (err == -ENOENT)
		SKIP("%s is not installed", disassembler_library());
	CHECK_EQ(err, 0);
	return disassembler;
}

static void check_first(const struct disassembler *disassembler,
			const struct disassembler_code *code, const struct instruction *wanted)
{
	struct instruction instruction;

	disassembler_first(disassembler, code, &instruction);
	CHECK_STR(instruction.text, wanted->text);
	CHECK_EQ(instruction.size, wanted->size);
	CHECK_EQ(instruction.address, code->address);
	CHECK_EQ(instruction.target, wanted->target);
}

#define CODE(...)                                                          \
	(&(const struct disassembler_code){(const uint8_t[]){__VA_ARGS__}, \
					   sizeof((const uint8_t[]){__VA_ARGS__}), 0x1000})
#define WANTED(text_, size_, target_) \
	(&(const struct instruction){.text = text_, .size = size_, .target = target_})

UNIT_TEST(x86_64)
{
	struct disassembler *disassembler = open_for(EM_X86_64);

	check_first(disassembler, CODE(0x55, 0xc3), WANTED("pushq %rbp", 1, 0));
	check_first(disassembler, CODE(0xe8, 0x0b, 0, 0, 0), WANTED("callq 0x1010", 5, 0x1010));
	check_first(disassembler, CODE(0x75, 0xfe), WANTED("jne 0x1000", 2, 0x1000));
	check_first(disassembler, CODE(0xff, 0xd0), WANTED("callq *%rax", 2, 0));
	check_first(disassembler, CODE(0xb8, 0x10, 0, 0, 0), WANTED("movl $0x10, %eax", 5, 0));
	check_first(disassembler, CODE(0x06, 0x55), WANTED(".byte 0x06", 1, 0));
	check_first(disassembler, CODE(0xe8, 0x0b), WANTED(".byte 0xe8", 1, 0)); /* cut off */
	disassembler_close(disassembler);
}

UNIT_TEST(aarch64)
{
	struct disassembler *disassembler = open_for(EM_AARCH64);

	check_first(disassembler, CODE(0xfd, 0x7b, 0xbf, 0xa9),
		    WANTED("stp x29, x30, [sp, #-0x10]!", 4, 0));
	check_first(disassembler, CODE(0x04, 0, 0, 0x94), WANTED("bl #0x1010", 4, 0x1010));
	check_first(disassembler, CODE(0x40, 0, 0, 0xb4), WANTED("cbz x0, #0x1008", 4, 0x1008));
	check_first(disassembler, CODE(0x21, 0, 0, 0x54), WANTED("b.ne #0x1004", 4, 0x1004));
	check_first(disassembler, CODE(0, 0x40, 0, 0x91), WANTED("add x0, x0, #0x10", 4, 0));
	check_first(disassembler, CODE(0, 0, 0x22, 0xd4), WANTED("brk #0x1000", 4, 0));
	check_first(disassembler, CODE(0x20, 0x7c, 0x10, 0x33),
		    WANTED("bfxil w0, w1, #0x10, #0x10", 4, 0));
	check_first(disassembler, CODE(0xff, 0xff, 0xff, 0xff, 0),
		    WANTED(".byte 0xff, 0xff, 0xff, 0xff", 4, 0));
	check_first(disassembler, CODE(0xff, 0xff), WANTED(".byte 0xff, 0xff", 2, 0));
	disassembler_close(disassembler);
}

UNIT_TEST(another_cpu)
{
	struct disassembler *disassembler = NULL;

	CHECK_EQ(disassembler_open(EM_S390, &disassembler), -ENOTSUP);
	CHECK(!disassembler);
}

UNIT_MAIN()
