/* SPDX-License-Identifier: MIT */
/*
 * objfile.h - finds and opens the ELF file of a module, and the file that holds its debug
 * information.
 *
 * The same name on another disk is often another build, and wrong names are worse than none. So a
 * file counts only if its build-id is the one recorded while the target ran or, if none was
 * recorded, if it is the same inode. Files are read with pread and never mapped: if a file is
 * truncated meanwhile, that is an error and not a SIGBUS.
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
 * Looks in this order: binary (may be NULL), the mapped file itself, the module's path in the
 * target's root, the same path in ours, /usr/lib/debug/.build-id, the servers of debuginfod.h. The
 * last two have the debug file, which may have no code in it (objfile_has_code). The vdso has no
 * file: this process's own vdso is used if the build-id is the same or, where none is known, in a
 * session, which runs on the kernel of its target. 0, -ENOENT, -ENOMEM.
 */
int objfile_open(const struct file_source *source, const struct profile_module *module,
		 const char *binary, struct objfile *out_file);
/*
 * Checks whether a file that the user names can be the module's. 0; -ESTALE: it is another build;
 * -ENOEXEC: it is no ELF file; or the negative errno of open().
 */
int objfile_check(const struct profile_module *module, const char *binary);
/* Opens the file that was run, not its debug file, from a server. 0 or -ENOENT. */
int objfile_open_program(const struct file_source *source, const struct profile_module *module,
			 struct objfile *out_file);
/* False for a debug file, which has the section headers of code, but no code. */
bool objfile_has_code(Elf *elf);
/*
 * The separate debug file that belongs to a module's file: by build-id, then by .gnu_debuglink,
 * then from a server. 0, -ENOENT, -ENOMEM.
 */
int objfile_open_debug(const struct file_source *source, const struct profile_module *module,
		       const struct objfile *file, struct objfile *out_debug);
/*
 * The file with what a debug file shares with others (dwz): by build-id, then by the name in
 * .gnu_debugaltlink, then from a server. 0, -ENOENT, -ENOMEM.
 */
int objfile_open_alternate(const struct file_source *source, const struct profile_module *module,
			   const struct objfile *file, struct objfile *out_alternate);
void objfile_close(struct objfile *file);
/*
 * Whether a package of split debug information (.dwp) lies beside the file, and its path. For
 * callers that may open files themselves.
 */
bool objfile_has_package(const struct objfile *file, char out_path[PATH_MAX]);
/* The GNU build-id; NULL and size 0 if there is none. Lives as long as the file is open. */
const uint8_t *objfile_build_id(Elf *elf, size_t *out_size);
/* The first section of this type (SHT_*) or, with type SHT_NULL, of this name. */
Elf_Scn *objfile_section(Elf *elf, uint32_t type, const char *name);

#endif
