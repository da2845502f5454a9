/* SPDX-License-Identifier: MIT */
/*
 * code_sums.h - what some functions weigh, call by call of their machine code.
 *
 * A site is a call, told by the last byte of its instruction, one before the return address. A block is the function, as the file's symbol table has it, around
 * some sites; or, where no file tells, a function of the profile. Both count once per stack in their cumulative weight.
 */
#ifndef HI_CODE_SUMS_H
#define HI_CODE_SUMS_H

#include "estimate.h"
#include "functions.h"
#include "machine_code.h"

struct code_site {
	int32_t module;    /* -1 = none */
	uint32_t function; /* of the profile, that owns the code */
	uint32_t block;
	uint64_t address; /* in the module's file; in memory if there is no module */
	struct estimate flat, cum;
};
struct code_block {
	const struct machine_code *code; /* NULL = no file */
	const char *symbol;              /* as in the file; NULL = not known: begin and end are 0 */
	uint64_t begin, end;
	size_t first_site, site_end;
	struct estimate flat, cum;
};
struct code_sums {
	struct code_site *site; /* by module and address */
	size_t site_count;
	struct code_block *block;
	size_t block_count;
	struct machine_code *code; /* by module; the rest is private */
	size_t code_count;
	uint32_t *site_of; /* by frame */
	bool *is_open;
};

struct code_wish {
	const bool *function; /* by function: those whose code is wanted */
	const char *binary;   /* as in symbols.h */
	enum sample_type type;
};
/* If no wanted function has code of its own, as all are inlined, the code that they are inlined into. 0 or -ENOMEM. */
int code_sums_open(const struct profile *profile, const struct functions *functions, const struct code_wish *wish, struct code_sums *out_sums);
void code_sums_close(struct code_sums *sums);

#endif
