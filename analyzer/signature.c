/* SPDX-License-Identifier: MIT */
/* signature.c - the signature of a function, read from an open file. */
#include <errno.h>

#include "dwarf_signature.h"
#include "hi_analyzer.h"

int hi_analyzer_signature(int fd, uint64_t address, struct hi_signature *out_signature)
{
	elf_version(EV_CURRENT);
	struct objfile file = {.fd = fd, .elf = elf_begin(fd, ELF_C_READ, NULL)};

	*out_signature = (struct hi_signature){0};
	if (!file.elf)
		return -ENOENT;
	const int err = dwarf_signature_read(&file, address, out_signature);

	elf_end(file.elf);
	return err;
}
