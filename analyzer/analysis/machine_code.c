/* SPDX-License-Identifier: MIT */
/*
 * machine_code.c - see machine_code.h.
 */
#include "machine_code.h"

#include <errno.h>
#include <gelf.h>

static Elf *elf_of(const struct machine_code *code)
{
	return code->program.elf ? code->program.elf : code->names.file.elf;
}

int machine_code_open(const struct profile *profile, int32_t module, const struct file_wish *wish,
		      struct machine_code *out_code)
{
	const struct file_source source = file_source_here(profile, wish);
	struct machine_code code = MACHINE_CODE_CLOSED;
	GElf_Ehdr header;
	int err = module_names_open(&source, profile, module, wish->binary, &code.names);

	if (err)
		return err;
	/* Without the program's file there are at least names. */
	if (!objfile_has_code(code.names.file.elf))
		(void)objfile_open_program(&source, &profile->module[module], &code.program);
	if (!gelf_getehdr(elf_of(&code), &header)) {
		machine_code_close(&code);
		return -ENOENT;
	}
	code.machine = header.e_machine;
	*out_code = code;
	return 0;
}

void machine_code_close(struct machine_code *code)
{
	module_names_close(&code->names);
	objfile_close(&code->program);
	*code = MACHINE_CODE_CLOSED;
}

bool machine_code_is_there(const struct machine_code *code)
{
	return objfile_has_code(elf_of(code));
}

const uint8_t *machine_code_bytes(const struct machine_code *code, uint64_t address, size_t wanted,
				  size_t *out_size)
{
	Elf *elf = elf_of(code);
	GElf_Phdr header;
	size_t count;

	/*
	 * A debug file keeps the program headers of the program, but other data are at these file
	 * offsets.
	 */
	if (!machine_code_is_there(code) || elf_getphdrnum(elf, &count))
		return NULL;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &header); i++) {
		const uint64_t into = address - header.p_vaddr;
		if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) ||
		    address < header.p_vaddr || into >= header.p_filesz)
			continue;
		/*
		 * Always ask for the whole segment: libelf keeps every chunk that it was ever asked
		 * for, and searches all of them.
		 */
		const Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset,
							    header.p_filesz, ELF_T_BYTE);
		if (!data || !data->d_buf || into >= data->d_size)
			return NULL;
		*out_size = data->d_size - into < wanted ? data->d_size - into : wanted;
		return (const uint8_t *)data->d_buf + into;
	}
	return NULL;
}
