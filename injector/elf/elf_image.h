/* SPDX-License-Identifier: MIT */
/*
 * elf_image.h - one ELF object of a target. elf_images.c finds all objects, and is the only one
 * that opens and closes them.
 */
#ifndef HI_ELF_IMAGE_H
#define HI_ELF_IMAGE_H

#include <gelf.h>

#include "elf_dynamic.h"
#include "elf_file.h"
#include "pages.h"
#include "procfs.h"

struct elf_text {
	remote_addr lo, hi; /* an executable mapping of the object, or several that could be one */
	uint64_t file_offset;
};

/* If these are unchanged, the file was not written to. */
struct elf_version {
	uint64_t size;
	int64_t changed_s, changed_ns; /* ctime */
};

/* Symbols of a stripped object that are not in its file's own tables. */
struct elf_debug {
	Elf *elf; /* NULL = none */
	int fd;
	/* of mini debug information, which lacks weak functions */
	bool is_partial;
};

struct elf_image {
	char *path;      /* as in maps; "[vdso]" */
	char *open_path; /* where it was opened; "" for memory images */
	uint64_t device, inode;
	struct elf_version version; /* of the file when it was opened */
	remote_addr lo, hi;         /* from its first to its last mapping */
	remote_addr head_hi;        /* the end of its first mapping */
	uint64_t bias;              /* address in memory minus address in the file */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_size;
	struct elf_text *text;
	size_t text_count;
	bool is_vdso, is_main, is_loader; /* is_loader: ld.so (the target's PT_INTERP) */
	/*
	 * never unloaded: the program, preloaded objects, and all that these need, directly or
	 * indirectly
	 */
	bool is_pinned;
	/* place in the link map of the base namespace, 0 = main program; -1 = not in it */
	int link_order;
	bool is_listed; /* the dynamic linker has it in its list, of whichever namespace */
	Elf *elf;       /* open until elf_images_close */
	int fd;
	/* for images read from memory; their data is as the program has it, relocated */
	void *memory_copy;
	struct elf_debug debug; /* of elf_debug_find */
	bool debug_is_sought;
	struct elf_dynamic *dynamic; /* symbols and relocations; NULL if it has none */
	/*
	 * only while images are read: the image of the previous reading whose file this one uses;
	 * NULL after that
	 */
	struct elf_image *known;
};

struct elf_image_source {
	pid_t pid; /* a pid or tid whose /proc entries work: a zombie leader's do not */
	const struct maps *maps;
	const struct memory *memory;
	struct pages *pages; /* not NULL: what is not resident is not touched */
	bool *taken;         /* by mapping index: the mapping already belongs to an image */
	/* bytes that the copies of images that cannot be opened may still take, all together */
	size_t *copy_room;
};

/*
 * Opens the object that begins with mapping number `first`, and takes its mappings. image must be
 * zeroed, except for fd = -1 and link_order = -1, and must be closed even after a failure.
 * -ENOEXEC: not an ELF file for this CPU, or none of its code is mapped.
 */
must_check int elf_image_open(const struct elf_image_source *source, size_t first,
			      struct elf_image *image);
/*
 * Does this mapping begin the object that `known`, an image of an earlier reading, describes? Never
 * true for an image that was copied from memory.
 */
bool elf_image_is_same(const struct elf_image *known, const struct mapping *mapping);
/*
 * Replaces elf_image_open for an object that was read earlier. The data from its file is shared
 * with `known` and belongs to it until elf_image_take_over.
 */
must_check int elf_image_open_known(const struct elf_image_source *source, size_t first,
				    struct elf_image *known, struct elf_image *image);
void elf_image_take_over(struct elf_image *image);
void elf_image_close(struct elf_image *image);

bool elf_image_is_vdso(const struct mapping *mapping);

/*
 * Address of a defined, global or weak dynamic symbol (default version), in memory; -ENOENT. Size
 * may be NULL.
 */
must_check int elf_image_symbol(const struct elf_image *image, const char *name,
				remote_addr *out_address, uint64_t *out_size);

#endif
