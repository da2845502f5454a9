/* SPDX-License-Identifier: MIT */
/*
 * The room elf/: which ELF objects are mapped in the target, and what they define.
 *
 *   elfimage.h         one object: its file, symbols, relocations: enter here
 *   link_map.h         the dynamic linker's list of them, read from outside
 *   elf_dynamic.h      the dynamic section, of memory or of a file; elf_segment.h: the bytes of a segment
 *   glibc_version.h    which release it is
 *
 * Uses target/ and libelf. Opens files by way of the target's own mappings, so that they are those that run, in any mount namespace.
 */

/*
 * elfimage.h - the ELF objects mapped in a target, read with libelf from the very files that are mapped.
 *
 * Files are opened through /proc/PID/map_files/LO-HI (right in every mount namespace and for deleted files); without that right through
 * /proc/PID/root + path, accepted only if device and inode match; the vdso, and whatever cannot be opened, from memory.
 * Nothing here stops the target. 0 or negative errno.
 */
#ifndef HI_ELFIMAGE_H
#define HI_ELFIMAGE_H

#include <gelf.h>

#include "elf_dynamic.h"
#include "link_map.h"
#include "procfs.h"

#define BUILD_ID_MAX 32

struct elf_text {
	remote_addr lo, hi; /* an executable mapping of the object */
	uint64_t file_offset;
};

/* What says that a file was not written to. */
struct elf_version {
	uint64_t size;
	int64_t changed_s, changed_ns; /* ctime */
};

struct elf_image {
	char *path;      /* as in maps; "[vdso]" */
	char *open_path; /* where it was opened; "" for memory images */
	uint64_t device, inode;
	struct elf_version version; /* of the file, as it was opened */
	remote_addr lo, hi;         /* from its first to its last mapping */
	remote_addr head_hi;        /* the end of its first mapping */
	uint64_t bias;              /* address in memory minus address in the file */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_size;
	struct elf_text *text;
	size_t text_count;
	bool is_vdso, is_main, is_loader; /* is_loader: ld.so (the target's PT_INTERP) */
	bool is_lasting;                  /* is never unloaded: the program, what was preloaded, and what these need, be it by way of others */
	int link_order;                   /* place in the link map of the base namespace, 0 = main program; -1 = not in it */
	Elf *elf;                         /* open until elf_images_close */
	int fd;
	void *memory_copy;           /* of images read from memory: their data is as the program has it, relocated */
	struct elf_dynamic *dynamic; /* symbols and relocations; NULL if it has none */
	struct elf_image *known;     /* while images are read: the one of the reading before whose file this is; NULL after that */
};

struct elf_images {
	struct elf_image *image; /* sorted by lo */
	size_t count;
	size_t unread;       /* objects of the base namespace's link map that are not among these, or not with their symbols */
	remote_addr r_debug; /* address of the main program's struct r_debug; 0 = static program */
};

/*
 * Reads every object of maps that is an ELF file of this CPU, and the link map's order. Objects that cannot be read are left out.
 * -ENOEXEC: the main program is not an ELF file of this architecture and word size.
 */
must_check int elf_images_read(pid_t pid, const struct maps *maps, const struct memory *memory, struct elf_images *out_images);
/*
 * The same anew, for images of an earlier reading, or of none (zeroed). What an object's file says is taken from there if that very file is still mapped where
 * it was, and was not written to since; what is in the target (mappings, link map, copies of its memory) is read in any case. On failure all stays as it was.
 */
must_check int elf_images_update(pid_t pid, const struct maps *maps, const struct memory *memory, struct elf_images *images);
void elf_images_close(struct elf_images *images);
const struct elf_image *elf_images_find(const struct elf_images *images, remote_addr address);

/* Address of a defined, global or weak dynamic symbol (default version), in memory; -ENOENT. Size may be NULL. */
must_check int elf_image_symbol(const struct elf_image *image, const char *name, remote_addr *out_address, uint64_t *out_size);
/* The same in link-map order over all objects of the base namespace, as the dynamic linker resolves it. out_image may be NULL. */
must_check int elf_images_resolve(const struct elf_images *images, const char *name, remote_addr *out_address, const struct elf_image **out_image);

#endif
