/* SPDX-License-Identifier: MIT */
/* elf_file.h - opens ELF files that a target chose: within bounds, and only those of this CPU. */
#ifndef HI_ELF_FILE_H
#define HI_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 32

struct build_id {
	uint8_t bytes[BUILD_ID_MAX];
	size_t size; /* 0 = none */
};

/* NULL: it is none. The descriptor stays the caller's. */
Elf *elf_file_open(int fd);
/* An object or a program of this CPU? */
bool elf_file_is_usable(Elf *elf);
/* From the notes of its segments, or of its sections, which debug files have. */
struct build_id elf_file_build_id(Elf *elf);

#endif
