/* SPDX-License-Identifier: MIT */
/*
 * Room elf/: which ELF objects are mapped in the target, and what they define.
 *
 *   elf_images.h       all of them: start here; elf_image.h: one, its file, symbols, relocations
 *   link_map.h         the dynamic linker's list of them, read from outside
 *   load_count.h       how many it has loaded so far
 *   elf_dynamic.h      the dynamic section, of memory or of a file
 *   elf_symbols.h      all functions by name, also those that are not exported
 *   elf_debug.h        the symbols of those that were stripped, from elsewhere; elf_unpack.h:
 * packed ones elf_file.h         opens a file; its build-id elf_segment.h      the bytes of a
 * segment; elf_section.h: a section by its name glibc_version.h    which glibc release it is
 *
 * Uses target/ and libelf. Opens files by way of the target's own mappings, so that they are the
 * files that the target runs, in any mount namespace.
 */

/*
 * elf_images.h - the ELF objects mapped in a target, read with libelf from the very files that are
 * mapped.
 *
 * Files are opened through /proc/PID/map_files/LO-HI, which is right in every mount namespace and
 * for deleted files. Without permission for that the program is opened through /proc/PID/exe, and
 * others through /proc/PID/root + path, and accepted only if device and inode match. The vdso, and
 * objects whose file cannot be opened, are read from memory. Nothing here stops the target. All
 * functions return 0 or a negative errno.
 */
#ifndef HI_ELF_IMAGES_H
#define HI_ELF_IMAGES_H

#include "elf_image.h"
#include "link_map.h"

struct elf_images {
	struct elf_image *image; /* sorted by lo */
	size_t count;
	/*
	 * objects of the base namespace's link map that are missing here, or whose symbols are
	 * missing
	 */
	size_t unread;
	remote_addr r_debug; /* address of the main program's struct r_debug; 0 = static program */
};

/*
 * Reads every object of maps that is an ELF file of this CPU, and the link map's order. Objects
 * that cannot be read are left out. -ENOEXEC: the main program is not an ELF file of this
 * architecture and word size.
 */
must_check int elf_images_read(pid_t pid, const struct maps *maps, const struct memory *memory,
			       struct elf_images *out_images);
/*
 * The same, without touching a page that is not resident: such a read would map it in the target.
 * Without the vdso, of which that is true as a rule. For commands that change nothing.
 */
must_check int elf_images_read_resident(pid_t pid, const struct maps *maps,
					const struct memory *memory, struct pages *pages,
					struct elf_images *out_images);
/*
 * As elf_images_read, for images of an earlier reading, or of none (zeroed). The data from an
 * object's file is taken over if the same file is still mapped at the same place and was not
 * written to since. What lies in the target (mappings, link map, copies of its memory) is always
 * read again. On failure images stays as it was.
 */
must_check int elf_images_update(pid_t pid, const struct maps *maps, const struct memory *memory,
				 struct elf_images *images);
void elf_images_close(struct elf_images *images);
const struct elf_image *elf_images_find(const struct elf_images *images, remote_addr address);

/*
 * As elf_image_symbol, over all objects of the base namespace in link-map order, as the dynamic
 * linker resolves a name. out_image may be NULL.
 */
must_check int elf_images_resolve(const struct elf_images *images, const char *name,
				  remote_addr *out_address, const struct elf_image **out_image);

#endif
