/* SPDX-License-Identifier: MIT */
/*
 * code_sums.h - the weights of some functions, per call instruction of their machine code.
 *
 * A site is a call instruction. Its address is that of the instruction's last byte, one before the
 * return address. A block is the range of a function in the file's symbol table that contains some
 * sites; where the file has no symbol for them, it is the sites of one function of the profile.
 * Sites and blocks both count once per stack in their cumulative weight.
 */
#ifndef HI_CODE_SUMS_H
#define HI_CODE_SUMS_H

#include "estimate.h"
#include "functions.h"
#include "machine_code.h"

struct code_weight {
	double value, samples; /* as in struct estimate */
};
struct code_site {
	int32_t module;    /* -1 = none */
	uint32_t function; /* the function of the profile that owns the code */
	uint32_t block;
	uint64_t address; /* in the module's file; in memory where module is -1 */
	struct code_weight flat, cum;
};
struct code_block {
	const struct machine_code *code; /* NULL = no file */
	/* from the file's symbol table; NULL = unknown, then begin and end are 0 */
	const char *symbol;
	uint64_t begin, end;
	size_t first_site, site_end;
	struct estimate flat, cum;
};
struct code_sums {
	struct code_site *site; /* by module and address */
	size_t site_count;
	struct code_block *block;
	size_t block_count;
	struct machine_code *code; /* by module; the members from here on are private */
	size_t code_count;
	uint32_t *site_of; /* by frame */
	bool *is_open;
};

struct code_wish {
	const bool *function; /* by function: true = its code is wanted */
	struct file_wish files;
	enum sample_type type;
	bool with_inlined; /* also code that a wanted function is inlined into */
};
/*
 * Returns 0 or -ENOMEM. If no wanted function has code of its own because all are inlined, the
 * result is about the code that they are inlined into.
 */
int code_sums_open(const struct profile *profile, const struct functions *functions,
		   const struct code_wish *wish, struct code_sums *out_sums);
void code_sums_close(struct code_sums *sums);
/* Adds up the sites of a block in an instruction of `size` bytes. */
void code_sums_at(const struct code_sums *sums, const struct code_block *block, uint64_t address,
		  uint32_t size, struct code_weight *out_flat, struct code_weight *out_cum);

#endif
