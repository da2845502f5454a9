/* SPDX-License-Identifier: MIT */
/*
 * disassembler.h - machine code as text, for the CPUs of an ELF header. Which these are, only its .c knows, and only it uses capstone.
 *
 * Capstone is loaded when it is first needed: no other command wants it, and without it all else works.
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
	uint64_t target; /* of a jump or call that goes to one place; 0 = none */
	char text[INSTRUCTION_TEXT_MAX];
};
struct disassembler_code {
	const uint8_t *bytes;
	size_t size;
	uint64_t address; /* of the first byte */
};

/* machine: e_machine. 0; -ENOTSUP: not for this CPU; -ENOENT: capstone is not installed (disassembler_library() is the file that was sought); -ENOMEM. */
int disassembler_open(uint16_t machine, struct disassembler **out_disassembler);
void disassembler_close(struct disassembler *disassembler);
const char *disassembler_library(void);
/* The first instruction of at least one byte; what is none is told byte by byte, or word by word where all are of one size. */
void disassembler_first(const struct disassembler *disassembler, const struct disassembler_code *code, struct instruction *out_instruction);

#endif
