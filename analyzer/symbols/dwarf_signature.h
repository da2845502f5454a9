/* SPDX-License-Identifier: MIT */
/* dwarf_signature.h - the result and the parameters of the function at an address. */
#ifndef HI_DWARF_SIGNATURE_H
#define HI_DWARF_SIGNATURE_H

#include <stdint.h>

#include "hi_signature.h"
#include "objfile.h"

/*
 * address: where the function begins, in the file. 0; -ENOENT: no debug information says so, or it
 * is in a split file; -ENOMEM.
 */
int dwarf_signature_read(const struct objfile *file, uint64_t address,
			 struct hi_signature *out_signature);

#endif
