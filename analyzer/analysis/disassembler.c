/* SPDX-License-Identifier: MIT */
/*
 * disassembler.c - see disassembler.h. To support another CPU, add a line to `machines`.
 */
#include "disassembler.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared_library.h"

#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number
/*
 * The major version of the header that this file was compiled with: another version may lay out its
 * structures differently.
 */
#define LIBRARY "libcapstone.so." TEXT_OF(CS_API_MAJOR)

struct machine {
	uint16_t machine;
	cs_arch arch;
	cs_mode mode;
	bool has_att_syntax;
	uint8_t unit; /* bytes emitted together if they are no instruction */
	bool (*is_branch)(const char *mnemonic); /* one that may name its destination */
};

static bool is_x86_branch(const char *mnemonic)
{
	return mnemonic[0] == 'j' || strncmp(mnemonic, "call", 4) == 0;
}

/* Others begin with the same letters: bfi, bic, brk. */
static bool is_aarch64_branch(const char *mnemonic)
{
	return strcmp(mnemonic, "b") == 0 || strcmp(mnemonic, "bl") == 0 ||
	       strncmp(mnemonic, "b.", 2) == 0 || strncmp(mnemonic, "cb", 2) == 0 ||
	       strncmp(mnemonic, "tb", 2) == 0;
}

static const struct machine machines[] = {
	{EM_X86_64, CS_ARCH_X86, CS_MODE_64, true, 1, is_x86_branch},
	{EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, false, 4, is_aarch64_branch},
};

struct disassembler {
	const struct machine *machine;
	void *library;
	csh handle;
	cs_insn *instruction;
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_disasm_iter) *disasm_iter;
};

const char *disassembler_library(void)
{
	return LIBRARY;
}

static const struct machine *machine_find(uint16_t number)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (machines[i].machine == number)
			return &machines[i];
	}
	return NULL;
}

static bool load(struct disassembler *disassembler)
{
	void *library = disassembler->library = shared_library_open(LIBRARY);

	return library && shared_library_find(library, "cs_open", &disassembler->open) &&
	       shared_library_find(library, "cs_close", &disassembler->close) &&
	       shared_library_find(library, "cs_option", &disassembler->option) &&
	       shared_library_find(library, "cs_malloc", &disassembler->malloc) &&
	       shared_library_find(library, "cs_free", &disassembler->free) &&
	       shared_library_find(library, "cs_disasm_iter", &disassembler->disasm_iter);
}

static int start(struct disassembler *disassembler)
{
	const struct machine *machine = disassembler->machine;
	const cs_err err = disassembler->open(machine->arch, machine->mode, &disassembler->handle);

	if (err)
		return err == CS_ERR_MEM ? -ENOMEM : -ENOTSUP;
	if (machine->has_att_syntax &&
	    disassembler->option(disassembler->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT))
		return -ENOTSUP;
	disassembler->instruction = disassembler->malloc(disassembler->handle);
	return disassembler->instruction ? 0 : -ENOMEM;
}

int disassembler_open(uint16_t number, struct disassembler **out_disassembler)
{
	const struct machine *machine = machine_find(number);
	struct disassembler *disassembler = machine ? calloc(1, sizeof(*disassembler)) : NULL;
	int err;

	if (!disassembler)
		return machine ? -ENOMEM : -ENOTSUP;
	disassembler->machine = machine;
	err = load(disassembler) ? start(disassembler) : -ENOENT;
	if (err)
		disassembler_close(disassembler);
	else
		*out_disassembler = disassembler;
	return err;
}

void disassembler_close(struct disassembler *disassembler)
{
	if (!disassembler)
		return;
	if (disassembler->instruction)
		disassembler->free(disassembler->instruction, 1);
	if (disassembler->handle)
		disassembler->close(&disassembler->handle);
	if (disassembler->library)
		shared_library_close(disassembler->library);
	free(disassembler);
}

/*
 * The destination is the last operand if that is a number. Other destinations are known only at run
 * time.
 */
static uint64_t target_of(const struct machine *machine, const cs_insn *instruction)
{
	const char *comma = strrchr(instruction->op_str, ','),
		   *last = comma ? comma + 1 : instruction->op_str;
	char *end;

	last += strspn(last, " #");
	if (!machine->is_branch(instruction->mnemonic) || strncmp(last, "0x", 2))
		return 0;
	const uint64_t target = strtoull(last, &end, 16);
	return *end ? 0 : target;
}

static void format_bytes(const struct machine *machine, const struct disassembler_code *code,
			 struct instruction *instruction)
{
	size_t used = (size_t)snprintf(instruction->text, sizeof(instruction->text), ".byte");

	instruction->size = code->size < machine->unit ? (uint32_t)code->size : machine->unit;
	for (uint32_t i = 0; i < instruction->size; i++)
		used += (size_t)snprintf(instruction->text + used, sizeof(instruction->text) - used,
					 "%s 0x%02x", i ? "," : "", code->bytes[i]);
}

void disassembler_first(const struct disassembler *disassembler,
			const struct disassembler_code *code, struct instruction *out_instruction)
{
	const uint8_t *bytes = code->bytes;
	size_t size = code->size;
	uint64_t address = code->address;
	const cs_insn *found = disassembler->instruction;

	*out_instruction = (struct instruction){.address = code->address};
	if (!disassembler->disasm_iter(disassembler->handle, &bytes, &size, &address,
				       disassembler->instruction) ||
	    found->size == 0) {
		format_bytes(disassembler->machine, code, out_instruction);
		return;
	}
	out_instruction->size = found->size;
	out_instruction->target = target_of(disassembler->machine, found);
	snprintf(out_instruction->text, sizeof(out_instruction->text), "%s%s%s", found->mnemonic,
		 *found->op_str ? " " : "", found->op_str);
}
