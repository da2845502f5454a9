/* SPDX-License-Identifier: MIT */
/*
 * disassembler.h - machine code as text, for the CPU that an ELF header names.
 *
 * Only disassembler.c knows which CPUs are supported, and only it uses capstone. Capstone is loaded
 * on first use: no other command needs it, and everything else works without it.
 */
#ifndef HI_DISASSEMBLER_H
#define HI_DISASSEMBLER_H

#include <stddef.h>
#include <stdint.h>

#define INSTRUCTION_TEXT_MAX 224u

struct disassembler;
struct instruction {
	uint64_t address;
	uint32_t size;   /* at least 1 */
	uint64_t target; /* of a jump or call with a fixed destination; 0 = none */
	char text[INSTRUCTION_TEXT_MAX];
};
struct disassembler_code {
	const uint8_t *bytes;
	size_t size;
	uint64_t address; /* of the first byte */
};

/*
 * machine: e_machine. Returns 0; -ENOTSUP: this CPU is not supported; -ENOENT: capstone is not
 * installed (disassembler_library() names the missing file); -ENOMEM.
 */
int disassembler_open(uint16_t machine, struct disassembler **out_disassembler);
void disassembler_close(struct disassembler *disassembler);
const char *disassembler_library(void);
/*
 * Decodes the first instruction; code->size must be at least 1. Bytes that are no instruction are
 * emitted one byte at a time, or one word at a time on a CPU with instructions of a fixed size.
 */
void disassembler_first(const struct disassembler *disassembler,
			const struct disassembler_code *code, struct instruction *out_instruction);

#endif
