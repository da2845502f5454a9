/* SPDX-License-Identifier: MIT */
/*
 * code_text.h - what the views of machine code have in common: the disassembler for a module's CPU,
 * where a call goes, and in words why there is no code to show.
 */
#ifndef HI_CODE_TEXT_H
#define HI_CODE_TEXT_H

#include <stdio.h>

#include "code_sums.h"
#include "disassembler.h"

#define CODE_TEXT_PLACE_MAX 600u /* bytes of a path that are shown */

/* Zero-initialized = none is open. Closed by disassembler_close(). */
struct code_machine {
	struct disassembler *disassembler; /* for code of `machine` */
	uint16_t machine;                  /* e_machine */
};

/*
 * Opens a disassembler for this code's CPU, unless it is already open. Returns as
 * disassembler_open(); on -ENOENT render_error() names the package. view: the option's name.
 */
int code_text_machine(struct code_machine *machine, const struct machine_code *code,
		      const char *view);
/*
 * Where a call or a jump goes: "<function+0x10>". target: 0 = nowhere. The caller frees it. NULL =
 * not known, or out of memory.
 */
char *code_text_target(const struct machine_code *code, uint64_t target);

/* Each prints a line that begins with "no code: ". */

/* The block has no symbol. module: NULL = none. */
void code_text_missing(const struct profile_module *module, const struct code_block *block,
		       FILE *out);
/* machine_code_bytes() has nothing at the block's begin. */
void code_text_no_bytes(const struct code_block *block, FILE *out);
/* code_text_machine() said -ENOTSUP. */
void code_text_no_cpu(const struct machine_code *code, FILE *out);

#endif
