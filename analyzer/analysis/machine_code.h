/* SPDX-License-Identifier: MIT */
/*
 * machine_code.h - the code of a module, its functions and its source lines, out of the file that the program ran: no other, as its build-id tells.
 *
 * Everything in the file is hostile input.
 */
#ifndef HI_MACHINE_CODE_H
#define HI_MACHINE_CODE_H

#include "module_names.h"

struct machine_code {
	struct module_names names; /* functions and lines */
	struct objfile program;    /* open where names.file is a debug file, which has no code */
	uint16_t machine;          /* e_machine */
};
#define MACHINE_CODE_CLOSED ((struct machine_code){.names = MODULE_NAMES_CLOSED, .program = OBJFILE_CLOSED})

/* binary: as in symbols.h. 0; -ENOENT: no such file, or only others of that name; -ENOMEM. */
int machine_code_open(const struct profile *profile, int32_t module, const char *binary, struct machine_code *out_code);
void machine_code_close(struct machine_code *code);
/* False: there are names, and only a debug file to take them from. */
bool machine_code_is_there(const struct machine_code *code);
/* Up to this many bytes from an address of the file on; fewer where the file's segment ends. Lives as long as it is open. NULL = none. */
const uint8_t *machine_code_bytes(const struct machine_code *code, uint64_t address, size_t wanted, size_t *out_size);

#endif
