/* SPDX-License-Identifier: MIT */
/*
 * dwarf_fuzz.c - debug information, read through libdw.
 *
 * libFuzzer: -max_len=32768
 */
#include "dwarf_lines.h"
#include "dwarf_signature.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dwarf_lines *lines;

	elf_version(EV_CURRENT);
	struct objfile file = {.fd = fuzz_file(data, size)};
	file.elf = elf_begin(file.fd, ELF_C_READ, NULL);
	if (!file.elf)
		return 0;
	if (!dwarf_lines_open(&file, &OBJFILE_CLOSED, false, &lines)) {
		for (uint64_t address = 0x100; address < 0x500; address += 13) {
			struct dwarf_call calls[DWARF_CALLS_MAX];
			size_t count;

			if (!dwarf_lines_find(lines, address, calls, &count))
				FUZZ_CHECK(count >= 1 && count <= DWARF_CALLS_MAX);
		}
		dwarf_lines_close(lines);
	}
	for (uint64_t address = 0x100; address < 0x500; address += 16) {
		struct hi_signature signature;

		if (!dwarf_signature_read(&file, address, &signature))
			FUZZ_CHECK(signature.is_known);
	}
	elf_end(file.elf);
	return 0;
}
