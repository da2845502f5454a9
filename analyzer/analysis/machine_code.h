/* SPDX-License-Identifier: MIT */
/*
 * machine_code.h - the code, the functions and the source lines of a module, from the file that the
 * program ran.
 *
 * A file is used only if its build-id is that of the module. Everything in the file is hostile
 * input.
 */
#ifndef HI_MACHINE_CODE_H
#define HI_MACHINE_CODE_H

#include "module_names.h"

struct machine_code {
	struct module_names names; /* functions and lines */
	struct objfile program;    /* open if names.file is a debug file, which has no code */
	uint16_t machine;          /* e_machine */
};
#define MACHINE_CODE_CLOSED \
	((struct machine_code){.names = MODULE_NAMES_CLOSED, .program = OBJFILE_CLOSED})

/*
 * Returns 0; -ENOENT: there is no such file, or only files with another
 * build-id; -ENOMEM.
 */
int machine_code_open(const struct profile *profile, int32_t module, const struct file_wish *wish,
		      struct machine_code *out_code);
void machine_code_close(struct machine_code *code);
/* False: only a debug file was found. It has names but no code. */
bool machine_code_is_there(const struct machine_code *code);
/*
 * Returns up to `wanted` bytes from an address of the file on; fewer where the file's segment ends.
 * NULL = no code there. The bytes live as long as `code` is open.
 */
const uint8_t *machine_code_bytes(const struct machine_code *code, uint64_t address, size_t wanted,
				  size_t *out_size);

#endif
