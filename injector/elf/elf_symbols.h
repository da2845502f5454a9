/* SPDX-License-Identifier: MIT */
/*
 * elf_symbols.h - all functions and variables that an ELF object defines, by name: those of
 * .dynsym, which the dynamic linker sees, and those of .symtab: of the file or, if that was
 * stripped, of what elf_debug_find has found for it.
 *
 * Files are chosen by the target and are read within bounds. Names of .symtab are read through the
 * file's descriptor into memory of the injector's own, and freed afterwards: through libelf they
 * would stay as long as the image.
 */
#ifndef HI_ELF_SYMBOLS_H
#define HI_ELF_SYMBOLS_H

#include "elf_image.h"

/*
 * For all objects of a process together: this much is read within a second. Tables beyond
 * it are left out.
 */
#define ELF_SYMBOLS_BYTES_MAX (512u << 20)

struct elf_function {
	const char *name; /* valid during the call; may be as long as the file */
	remote_addr address;
	uint64_t size;
	/* from .dynsym: other objects can find it, so that calls of it may go through a slot */
	bool is_exported;
	bool is_local; /* of one source file, or hidden from other objects */
	/*
	 * Number of its source file, if it is local and the table names files. Functions that the
	 * linker made local have one in common, which is that of no source file.
	 */
	unsigned file;
	bool is_indirect; /* (ifunc) the address is that of a function that chooses one */
};
typedef void elf_function_visit(void *context, const struct elf_function *function);

/* Calls visit for each of them. *room: bytes of tables that may still be read; what is read is
 * taken off. */
void elf_symbols_visit(const struct elf_image *image, size_t *room, elf_function_visit *visit,
		       void *context);
/*
 * The same for variables, thread-local ones aside. The name is valid during the call. What another
 * file says of them was not checked: the address may be anywhere.
 */
typedef void elf_variable_visit(void *context, const char *name, remote_addr address,
				uint64_t size);
void elf_symbols_visit_variables(const struct elf_image *image, size_t *room,
				 elf_variable_visit *visit, void *context);

#endif
