/* SPDX-License-Identifier: MIT */
/* packed_allocators.c - see packed_allocators.h. */
#include "packed_allocators.h"

#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>

#include "hi_allocator_names.h"
#include "mini_debug.h"
#include "module_names.h"
#include "objfile.h"
#include "printable.h"

/* The first allocator function in the table; NULL = none. Lives as long as the file is open. */
static const char *find_name(Elf *elf)
{
	Elf_Scn *section = objfile_section(elf, SHT_SYMTAB, ".symtab");
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	if (!data || !gelf_getshdr(section, &header))
		return NULL;
	for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
		const char *name =
			symbol.st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol.st_info) == STT_FUNC
				? elf_strptr(elf, header.sh_link, symbol.st_name)
				: NULL;

		if (name && (strcmp(name, "malloc") == 0 || hi_allocator_prefix(name)))
			return name;
	}
	return NULL;
}

static int set_unhooked(struct profile_meta *meta, const char *name)
{
	const size_t prefix = hi_allocator_prefix(name);
	char *text;

	if (asprintf(&text, "%.*smalloc in the program itself%s", (int)prefix, name,
		     prefix ? "" : " (by direct calls)") < 0)
		return -ENOMEM;
	printable(text);
	meta->unhooked = text;
	return 0;
}

int packed_allocators_find(struct profile *profile, int ask_fd)
{
	const struct file_source source = {
		.ask_fd = ask_fd, .pid = profile->meta.pid, .exe = profile->meta.exe};
	const int32_t program = module_names_main(profile);
	struct objfile file = OBJFILE_CLOSED;
	struct mini_debug mini = {0};
	const char *name = NULL;
	int err = profile->meta.unhooked || program < 0
			  ? -ENOENT
			  : objfile_open(&source, &profile->module[program], NULL, &file);

	if (!err)
		err = mini_debug_open(file.elf, &mini);
	if (!err)
		name = find_name(mini.elf);
	if (name)
		err = set_unhooked(&profile->meta, name);
	mini_debug_close(&mini);
	objfile_close(&file);
	return err == -ENOMEM ? err : 0;
}
