/* SPDX-License-Identifier: MIT */
/* elf_image.h - one ELF object of a target. elf_images.c finds them all, and alone opens and closes them. */
#ifndef HI_ELF_IMAGE_H
#define HI_ELF_IMAGE_H

#include <gelf.h>

#include "elf_dynamic.h"
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
	bool is_pinned;                  /* is never unloaded: the program, what was preloaded, and what these need, be it by way of others */
	int link_order;                   /* place in the link map of the base namespace, 0 = main program; -1 = not in it */
	Elf *elf;                         /* open until elf_images_close */
	int fd;
	void *memory_copy;           /* of images read from memory: their data is as the program has it, relocated */
	struct elf_dynamic *dynamic; /* symbols and relocations; NULL if it has none */
	struct elf_image *known;     /* while images are read: the one of the reading before whose file this is; NULL after that */
};

struct elf_image_source {
	pid_t pid; /* whose /proc entries work: a zombie leader's do not */
	const struct maps *maps;
	const struct memory *memory;
	bool *taken;       /* by number of mapping: belongs to an image already */
	size_t *copy_room; /* how much memory the copies of images that cannot be opened may still take, all together */
};

/*
 * Opens the object that begins with mapping number `first`, and takes its mappings. image: zeroed but for fd = -1, link_order = -1; to be closed in any case.
 * -ENOEXEC: no ELF file of this CPU, or none of its code is mapped.
 */
must_check int elf_image_open(const struct elf_image_source *source, size_t first, struct elf_image *image);
/* Is an image of an earlier reading what begins with this mapping? Never one that was copied from memory. */
bool elf_image_is_same(const struct elf_image *known, const struct mapping *mapping);
/* In the place of elf_image_open: what the file says comes from `known`, and belongs to it until elf_image_take_over. */
must_check int elf_image_open_known(const struct elf_image_source *source, size_t first, struct elf_image *known, struct elf_image *image);
void elf_image_take_over(struct elf_image *image);
void elf_image_close(struct elf_image *image);

bool elf_image_is_vdso(const struct mapping *mapping);

/* Address of a defined, global or weak dynamic symbol (default version), in memory; -ENOENT. Size may be NULL. */
must_check int elf_image_symbol(const struct elf_image *image, const char *name, remote_addr *out_address, uint64_t *out_size);

#endif
