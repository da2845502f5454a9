/* SPDX-License-Identifier: MIT */
/*
 * module_names.c - see module_names.h.
 *
 * A file may hold everything, names only, or the few names that others link to; its debug file
 * fills the gaps. Enter at module_names_open().
 */
#include "module_names.h"

#include <errno.h>
#include <string.h>

#include "vdso.h"

#define GO_MARK "runtime.systemstack_switch"

struct opening {
	const struct file_source *source;
	const struct profile_module *module;
	struct module_names names;
};

int32_t module_names_main(const struct profile *profile)
{
	for (size_t i = 0; profile->meta.exe && i < profile->module_count; i++) {
		if (profile->module[i].path &&
		    strcmp(profile->module[i].path, profile->meta.exe) == 0)
			return (int32_t)i;
	}
	return profile->module_count ? 0 : -1;
}

bool module_names_is_same(const struct profile *profile, int32_t a, int32_t b)
{
	return a == b || (a >= 0 && b >= 0 && profile->module[a].number != 0 &&
			  profile->module[a].number == profile->module[b].number);
}

static int open_lines(struct opening *opening, const struct objfile *file)
{
	struct module_names *names = &opening->names;
	const int err =
		objfile_open_alternate(opening->source, opening->module, file, &names->alternate);

	return err == -ENOMEM ? err
			      : dwarf_lines_open(file, &names->alternate, !opening->source->ask_fd,
						 &names->lines);
}

/*
 * A stripped file still has the names that others link to, and perhaps a packed table of the
 * others, or that of Go.
 */
static int open_exported(struct module_names *names)
{
	int err = mini_debug_open(names->file.elf, &names->mini);

	(void)hi_go_table_find(names->file.elf, &names->go);
	if (!err)
		err = symtab_open_full(names->mini.elf, &names->mini_table);
	if (err != -ENOMEM)
		err = unwind_bounds_open(&names->file, &names->bounds);
	return err == -ENOMEM ? err : symtab_open(names->file.elf, &names->table);
}

/*
 * Opens what the file has and, for the rest, what its debug file has. -ENOMEM; any other result is
 * no failure, and the tables are whatever was found.
 */
static int open_tables(struct opening *opening)
{
	struct module_names *names = &opening->names;
	const int table = symtab_open_full(names->file.elf, &names->table),
		  lines = open_lines(opening, &names->file);
	int err = table == -ENOMEM || lines == -ENOMEM ? -ENOMEM : 0;

	if (!err && (table == -ENOENT || lines == -ENOENT))
		err = objfile_open_debug(opening->source, opening->module, &names->file,
					 &names->debug);
	if (table == -ENOENT && names->debug.elf)
		err = symtab_open_full(names->debug.elf, &names->table);
	if (lines == -ENOENT && names->debug.elf && err != -ENOMEM) {
		objfile_close(&names->alternate);
		err = open_lines(opening, &names->debug);
	}
	if (!names->table.count && err != -ENOMEM)
		err = open_exported(names);
	return err;
}

int module_names_open(const struct file_source *source, const struct profile *profile,
		      int32_t module, const char *binary, struct module_names *out_names)
{
	const int32_t program = module_names_main(profile);
	const bool is_program = module_names_is_same(profile, module, program);
	struct opening opening = {.source = source,
				  .module = &profile->module[is_program ? program : module],
				  .names = MODULE_NAMES_CLOSED};
	int err = objfile_open(source, opening.module, is_program ? binary : NULL,
			       &opening.names.file);

	if (err)
		return err;
	if (open_tables(&opening) == -ENOMEM) {
		module_names_close(&opening.names);
		return -ENOMEM;
	}
	opening.names.is_vdso =
		opening.module->path && strcmp(opening.module->path, VDSO_PATH) == 0;
	*out_names = opening.names;
	return 0;
}

void module_names_close(struct module_names *names)
{
	dwarf_lines_close(names->lines);
	symtab_close(&names->table);
	symtab_close(&names->mini_table);
	unwind_bounds_close(&names->bounds);
	mini_debug_close(&names->mini);
	objfile_close(&names->alternate);
	objfile_close(&names->debug);
	objfile_close(&names->file);
	*names = MODULE_NAMES_CLOSED;
}

/* Go stores the address of this function as a return address where C has called Go. */
static bool is_mark(const struct module_names *names, uint64_t return_address)
{
	uint64_t begin, end;
	const char *name = module_names_extent(names, return_address, &begin, &end);

	return name && begin == return_address && strncmp(name, GO_MARK, sizeof(GO_MARK) - 1) == 0;
}

uint64_t module_names_code(const struct module_names *names, uint64_t return_address)
{
	const uint64_t call = return_address - 1;
	const bool is_interrupted = names->is_vdso && !module_names_symbol(names, call) &&
				    module_names_symbol(names, return_address);

	return is_interrupted || is_mark(names, return_address) ? return_address : call;
}

const char *module_names_symbol(const struct module_names *names, uint64_t address)
{
	const char *found = symtab_find(&names->mini_table, address);
	uint64_t begin, end;

	if (!found)
		found = go_functions_find(&names->go, address, &begin, &end);
	return found ? found : symtab_find(&names->table, address);
}

const char *module_names_extent(const struct module_names *names, uint64_t address,
				uint64_t *out_begin, uint64_t *out_end)
{
	const char *found = symtab_find_extent(&names->mini_table, address, out_begin, out_end);

	if (!found)
		found = go_functions_find(&names->go, address, out_begin, out_end);
	return found ? found : symtab_find_extent(&names->table, address, out_begin, out_end);
}

int module_names_begin(const struct module_names *names, uint64_t address, uint64_t *out_begin)
{
	return unwind_bounds_find(&names->bounds, &names->file, address, out_begin);
}
