/* SPDX-License-Identifier: MIT */
/*
 * objfile.h - finds and opens the ELF file behind a module, and the file that holds its debug information.
 *
 * The same name on another disk is often another build, and wrong names are worse than none: a file counts only if its build-id is the one
 * recorded while the target ran or, where none was recorded, if it is the same inode. Reads with pread and never maps: a file that is cut
 * short meanwhile is an error and not a SIGBUS.
 */
#ifndef HI_OBJFILE_H
#define HI_OBJFILE_H

#include <libelf.h>
#include <limits.h>

#include "file_source.h"

struct objfile {
	int fd;
	Elf *elf; /* NULL = not open */
};
#define OBJFILE_CLOSED ((struct objfile){.fd = -1})

/*
 * Where to look, in this order: binary (may be NULL), the mapped file itself, the module's path in the target's root, in ours, /usr/lib/debug/.build-id, the
 * servers of debuginfod.h. The last two have the debug file, which may have no code in it (objfile_has_code). The vdso, which has no file, is this process's
 * own: if the build-id says so or, where none is known, in a session, which runs on the kernel of its target.
 * 0, -ENOENT, -ENOMEM.
 */
int objfile_open(const struct file_source *source, const struct profile_module *module, const char *binary, struct objfile *out_file);
/* Whether a file that the user names can be a module's. 0, -ESTALE: it is another build; -ENOEXEC: it is no ELF file; or what open() says. */
int objfile_check(const struct profile_module *module, const char *binary);
/* Not the debug file but the one that was run, from a server. 0 or -ENOENT. */
int objfile_open_program(const struct file_source *source, const struct profile_module *module, struct objfile *out_file);
/* A debug file has the headers of code, and no code. */
bool objfile_has_code(Elf *elf);
/* The separate debug file that belongs to a module's file: by build-id, then by .gnu_debuglink, then from a server. 0, -ENOENT, -ENOMEM. */
int objfile_open_debug(const struct file_source *source, const struct profile_module *module, const struct objfile *file, struct objfile *out_debug);
/* What a debug file shares with others (dwz): by build-id, then by the name in .gnu_debugaltlink, then from a server. 0, -ENOENT, -ENOMEM. */
int objfile_open_alternate(const struct file_source *source, const struct profile_module *module, const struct objfile *file, struct objfile *out_alternate);
void objfile_close(struct objfile *file);
/* Whether a package of split debug information (.dwp) lies beside the file, and its path. For who opens files by itself. */
bool objfile_has_package(const struct objfile *file, char out_path[PATH_MAX]);
/* NULL and 0 if there is none. Lives as long as the file is open. */
const uint8_t *objfile_build_id(Elf *elf, size_t *out_size);
/* The first section of this type (SHT_*) or, with type SHT_NULL, of this name. */
Elf_Scn *objfile_section(Elf *elf, uint32_t type, const char *name);

#endif
