/* SPDX-License-Identifier: MIT */
/*
 * machine_code.c - see machine_code.h.
 */
#include "machine_code.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

/* The user's file is that of the program itself: the module of its path, or the first one. */
static bool is_main(const struct profile *profile, int32_t module)
{
	const char *exe = profile->meta.exe, *path = profile->module[module].path;

	return exe && path ? strcmp(exe, path) == 0 : module == 0;
}

/* Names and lines may lie in a separate file. -ENOMEM, or whatever there was to find. */
static int open_debug(const struct file_source *source, const struct profile_module *module, struct machine_code *code)
{
	const int names = symtab_open_full(code->file.elf, &code->table);
	int lines = objfile_open_alternate(source, module, &code->file, &code->alternate), error = 0;

	lines = lines == -ENOMEM ? lines : dwarf_lines_open(&code->file, &code->alternate, true, &code->lines);
	if (names == -ENOENT || lines == -ENOENT)
		error = objfile_open_debug(source, module, &code->file, &code->debug);
	if (names == -ENOENT && code->debug.elf)
		error = symtab_open_full(code->debug.elf, &code->table);
	if (lines == -ENOENT && code->debug.elf && error != -ENOMEM) {
		objfile_close(&code->alternate);
		lines = objfile_open_alternate(source, module, &code->debug, &code->alternate);
		lines = lines == -ENOMEM ? lines : dwarf_lines_open(&code->debug, &code->alternate, true, &code->lines);
	}
	if (!code->table.count && error != -ENOMEM)
		error = symtab_open(code->file.elf, &code->table);
	return names == -ENOMEM || lines == -ENOMEM || error == -ENOMEM ? -ENOMEM : 0;
}

int machine_code_open(const struct profile *profile, int32_t module, const char *binary, struct machine_code *out_code)
{
	const struct file_source source = {.pid = profile->meta.pid, .exe = profile->meta.exe};
	struct machine_code code = {.file = OBJFILE_CLOSED, .debug = OBJFILE_CLOSED, .alternate = OBJFILE_CLOSED};
	GElf_Ehdr header;
	int error = objfile_open(&source, &profile->module[module], is_main(profile, module) ? binary : NULL, &code.file);

	if (!error)
		error = open_debug(&source, &profile->module[module], &code);
	if (!error && !gelf_getehdr(code.file.elf, &header))
		error = -ENOENT;
	if (error) {
		machine_code_close(&code);
		return error;
	}
	code.machine = header.e_machine;
	*out_code = code;
	return 0;
}

void machine_code_close(struct machine_code *code)
{
	dwarf_lines_close(code->lines);
	symtab_close(&code->table);
	objfile_close(&code->alternate);
	objfile_close(&code->debug);
	objfile_close(&code->file);
	*code = (struct machine_code){.file = OBJFILE_CLOSED, .debug = OBJFILE_CLOSED, .alternate = OBJFILE_CLOSED};
}

const uint8_t *machine_code_bytes(const struct machine_code *code, uint64_t address, size_t wanted, size_t *out_size)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(code->file.elf, &count))
		return NULL;
	for (size_t i = 0; i < count && gelf_getphdr(code->file.elf, (int)i, &header); i++) {
		const uint64_t into = address - header.p_vaddr;
		if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) || address < header.p_vaddr || into >= header.p_filesz)
			continue;
		/* Always the whole segment: libelf keeps each piece that it was ever asked for, and goes through all of them. */
		const Elf_Data *data = elf_getdata_rawchunk(code->file.elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
		if (!data || !data->d_buf || into >= data->d_size)
			return NULL;
		*out_size = data->d_size - into < wanted ? data->d_size - into : wanted;
		return (const uint8_t *)data->d_buf + into;
	}
	return NULL;
}
