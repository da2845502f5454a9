/* SPDX-License-Identifier: MIT */
/*
 * elf_image.c - one ELF object: its file, its place, its mappings, its build-id.
 *
 * The target chose the names of the files. So only regular files are opened, and a path that is no
 * link of the kernel's only if the inode matches. Enter at elf_image_open.
 */
#include "elf_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_file.h"
#include "elf_memory_copy.h"
#include "elf_segment.h"
#include "hi_page.h"
#include "proc_file.h"

static uint64_t page_down(uint64_t address)
{
	return address & ~(uint64_t)(hi_page_bytes() - 1);
}

bool elf_image_is_vdso(const struct mapping *mapping)
{
	return strcmp(mapping->path, "[vdso]") == 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

void elf_image_close(struct elf_image *image)
{
	free(image->text);
	if (image->known)
		return;
	elf_dynamic_close(image->dynamic);
	elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	if (image->debug.elf) {
		elf_end(image->debug.elf);
		close(image->debug.fd);
	}
	free(image->memory_copy);
	free(image->path);
	free(image->open_path);
}

static struct elf_version version_of(const struct stat *status)
{
	return (struct elf_version){.size = (uint64_t)status->st_size,
				    .changed_s = status->st_ctim.tv_sec,
				    .changed_ns = status->st_ctim.tv_nsec};
}

static bool has_numbers(const struct stat *status, const struct mapping *mapping)
{
	return status->st_dev == mapping->device && status->st_ino == mapping->inode;
}

/*
 * Is this the file of the mapping? The mappings were read a while ago: a plug-in may have gone, and
 * another one lie at its address. fstat does not show the device that /proc/PID/maps shows where
 * file systems lie in layers (overlayfs) or have volumes (btrfs): there the name decides.
 */
static bool is_file_of(int file, const struct stat *status, const struct mapping *mapping)
{
	static const char deleted[] = " (deleted)";
	char name[PATH_MAX];

	if (status->st_dev == mapping->device)
		return has_numbers(status, mapping);
	const ssize_t got = readlink(proc_path_of_fd(file).text, name, sizeof(name) - 1);

	if (got < 0)
		return false;
	name[got] = 0;
	const size_t length = strlen(mapping->path);

	return strncmp(name, mapping->path, length) == 0 &&
	       (!name[length] || strcmp(name + length, deleted) == 0);
}

/*
 * Opens path if it is a regular file, that of the mapping. is_link: it is one of map_files, which
 * is the kernel's. -ESTALE: it leads to another file.
 */
static int open_regular(const char *path, const struct mapping *mapping, bool is_link,
			struct elf_version *out_version)
{
	struct stat status;
	/*
	 * The file is examined before it is opened, because opening a device may have effects. Then
	 * exactly that file is opened, whatever the path leads to by then.
	 */
	const int found = open(path, O_PATH | O_CLOEXEC);
	int fd = found < 0 || fstat(found, &status) != 0 ? -errno : 0;

	if (!fd && !S_ISREG(status.st_mode))
		fd = -EINVAL;
	if (!fd && !(is_link ? is_file_of(found, &status, mapping) : has_numbers(&status, mapping)))
		fd = -ESTALE;
	if (!fd) {
		*out_version = version_of(&status);
		fd = open(proc_path_of_fd(found).text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		fd = fd < 0 ? -errno : fd;
	}
	if (found >= 0)
		close(found);
	return fd;
}

/* path: its owner is the image if that is its file; NULL: out of memory */
static int open_path(char *path, const struct mapping *mapping, bool is_link,
		     struct elf_image *image)
{
	const int fd = path ? open_regular(path, mapping, is_link, &image->version) : -ENOMEM;

	if (fd < 0)
		free(path);
	else
		image->open_path = path;
	return fd;
}

static bool may_be_elsewhere(int fd)
{
	return fd < 0 && fd != -EINVAL && fd != -ENOMEM;
}

static int open_file(const struct elf_image_source *source, const struct mapping *mapping,
		     struct elf_image *image)
{
	char range[48], *path;
	int fd;

	snprintf(range, sizeof(range), "map_files/%lx-%lx", mapping->lo, mapping->hi);
	fd = open_path(strdup(proc_path(source->pid, 0, range).text), mapping, true, image);
	/* this link needs no capability, and leads to a program that was replaced, too */
	if (may_be_elsewhere(fd))
		fd = open_path(strdup(proc_path(source->pid, 0, "exe").text), mapping, true, image);
	if (may_be_elsewhere(fd) && !mapping->deleted) {
		if (asprintf(&path, "%s%s",
			     proc_path(source->pid, source->memory->tid, "root").text,
			     mapping->path) < 0)
			path = NULL;
		fd = open_path(path, mapping, false, image);
	}
	if (fd < 0)
		return fd;
	image->fd = fd;
	image->elf = elf_file_open(fd);
	return image->elf ? 0 : -ENOEXEC;
}

static int open_memory(const struct elf_image_source *source, const struct mapping *mapping,
		       struct elf_image *image)
{
	size_t size;
	int err = elf_memory_copy(source->memory, source->pages, mapping->lo, *source->copy_room,
				  &image->memory_copy, &size);

	if (err)
		return err;
	*source->copy_room -= size;
	image->open_path = strdup("");
	image->elf = elf_memory(image->memory_copy, size);
	return elf_file_is_usable(image->elf) ? 0 : -ENOEXEC;
}

/* ---- one image ------------------------------------------------------------------------------- */

/*
 * An object begins with its first PT_LOAD. Mappings of other parts of the same file are not
 * objects: V8 maps the builtins that are embedded in the program's file a second time, close to its
 * own code.
 */
static int find_bias(Elf *elf, const struct mapping *mapping, uint64_t *out_bias)
{
	GElf_Phdr load;

	if (!elf_segment_find(elf, PT_LOAD, &load) ||
	    mapping->file_offset != page_down(load.p_offset))
		return -ENOEXEC;
	*out_bias = mapping->lo - page_down(load.p_vaddr);
	return 0;
}

static remote_addr image_end(const struct elf_image *image)
{
	remote_addr end = 0;
	GElf_Phdr load;

	for (size_t nth = 0; elf_segment_next(image->elf, PT_LOAD, &nth, &load);)
		if (image->bias + load.p_vaddr + load.p_memsz > end)
			end = image->bias + load.p_vaddr + load.p_memsz;
	return end;
}

/* The file offset from which the address of a code segment was mapped. */
static bool code_offset(const struct elf_image *image, remote_addr address, uint64_t *out_offset)
{
	GElf_Phdr load;

	for (size_t nth = 0; elf_segment_next(image->elf, PT_LOAD, &nth, &load);) {
		const remote_addr start = image->bias + page_down(load.p_vaddr);

		if (!(load.p_flags & PF_X) || address < start ||
		    address >= image->bias + load.p_vaddr + load.p_filesz)
			continue;
		*out_offset = page_down(load.p_offset) + (address - start);
		return true;
	}
	return false;
}

static int add_text(struct elf_image *image, const struct mapping *mapping, uint64_t file_offset)
{
	struct elf_text *text = reallocarray(image->text, image->text_count + 1, sizeof(*text));

	if (!text)
		return -ENOMEM;
	text[image->text_count++] =
		(struct elf_text){.lo = mapping->lo, .hi = mapping->hi, .file_offset = file_offset};
	image->text = text;
	return 0;
}

/* Takes the mappings of this image, the first of which is number `first`. */
static int take_mappings(const struct elf_image_source *source, size_t first,
			 struct elf_image *image)
{
	const struct mapping *const head = &source->maps->mapping[first];
	const remote_addr end = image_end(image);
	int err = 0;

	for (size_t i = first; !err && i < source->maps->count && source->maps->mapping[i].lo < end;
	     i++) {
		const struct mapping *mapping = &source->maps->mapping[i];
		const bool own = mapping->device == head->device && mapping->inode == head->inode &&
				 (head->inode || i == first);
		const bool anonymous = mapping->inode == 0 && mapping->path[0] == 0;
		uint64_t file_offset = mapping->file_offset;

		if (source->taken[i] || (!own && !(anonymous && mapping->executable &&
						   code_offset(image, mapping->lo, &file_offset))))
			continue;
		source->taken[i] = true;
		image->hi = mapping->hi;
		/* older kernels have code that heapinject has replaced apart from the rest */
		if (mapping->executable && image->text_count &&
		    image->text[image->text_count - 1].hi == mapping->lo &&
		    mapping_continues(mapping - 1, mapping))
			image->text[image->text_count - 1].hi = mapping->hi;
		else if (mapping->executable)
			err = add_text(image, mapping, file_offset);
	}
	return err;
}

/* Where it lies. */
static int place(const struct elf_image_source *source, size_t first, struct elf_image *image)
{
	const struct mapping *mapping = &source->maps->mapping[first];
	int err;

	image->lo = mapping->lo;
	image->head_hi = mapping->hi;
	image->device = mapping->device;
	image->inode = mapping->inode;
	image->is_vdso = elf_image_is_vdso(mapping);
	err = find_bias(image->elf, mapping, &image->bias);
	if (!err)
		err = take_mappings(source, first, image);
	return !err && image->text_count == 0 ? -ENOEXEC : err;
}

int elf_image_open(const struct elf_image_source *source, size_t first, struct elf_image *image)
{
	const struct mapping *mapping = &source->maps->mapping[first];
	int err = elf_image_is_vdso(mapping) ? -ENOENT : open_file(source, mapping, image);

	image->path = strdup(mapping->path);
	if (err && err != -ENOEXEC)
		err = open_memory(source, mapping, image);
	if (err)
		return err;
	if (!image->path || !image->open_path)
		return -ENOMEM;
	err = place(source, first, image);
	if (err)
		return err;
	const struct build_id id = elf_file_build_id(image->elf);

	memcpy(image->build_id, id.bytes, id.size);
	image->build_id_size = id.size;
	err = elf_dynamic_open(image->elf, image->memory_copy ? image->bias : 0, &image->dynamic);
	return err == -ENOENT ? 0 : err;
}

/* ---- one that is open already ---------------------------------------------------------------- */

/*
 * The inode number cannot have been reused for another file, because the injector holds the file
 * open.
 */
bool elf_image_is_same(const struct elf_image *known, const struct mapping *mapping)
{
	struct elf_version now;
	struct stat status;

	if (known->fd < 0 || known->lo != mapping->lo || known->head_hi != mapping->hi ||
	    known->device != mapping->device || known->inode != mapping->inode ||
	    strcmp(known->path, mapping->path) != 0 || fstat(known->fd, &status) != 0)
		return false;
	now = version_of(&status);
	return now.size == known->version.size && now.changed_s == known->version.changed_s &&
	       now.changed_ns == known->version.changed_ns;
}

int elf_image_open_known(const struct elf_image_source *source, size_t first,
			 struct elf_image *known, struct elf_image *image)
{
	*image = *known;
	image->known = known;
	image->text = NULL;
	image->text_count = 0;
	image->is_main = image->is_loader = image->is_pinned = image->is_listed = false;
	image->link_order = -1;
	return place(source, first, image);
}

void elf_image_take_over(struct elf_image *image)
{
	if (!image->known)
		return;
	free(image->known->text);
	*image->known = (struct elf_image){.fd = -1};
	image->known = NULL;
}

/* ---- symbols --------------------------------------------------------------------------------- */

int elf_image_symbol(const struct elf_image *image, const char *name, remote_addr *out_address,
		     uint64_t *out_size)
{
	Elf64_Sym symbol;
	int err = image->dynamic ? elf_dynamic_find(image->dynamic, name, &symbol) : -ENOENT;

	if (err)
		return err;
	*out_address = image->bias + symbol.st_value;
	if (out_size)
		*out_size = symbol.st_size;
	return 0;
}
