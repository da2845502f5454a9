/* SPDX-License-Identifier: MIT */
/*
 * elfimage.c - from the mappings of a process to its ELF objects.
 *
 * A mapping that begins with an ELF header, or is executable, and belongs to no object yet, begins one. Its file's program headers say how far the object
 * reaches; mappings of the same file in that range are its own (and anonymous executable ones where a code segment should be: programs that moved their
 * text to huge pages). Files that are only mapped for reading have no executable mapping and are dropped.
 *
 * Opening files by names that the target chose: never anything but a regular file, and a path outside of map_files only if the inode is right.
 * Enter at elf_images_read.
 */
#include "elfimage.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch.h"
#include "elf_memory_copy.h"
#include "elf_segment.h"

#define PAGE_BYTES 4096u
#define DYNAMIC_BYTES_MAX 65536u

struct reader {
	pid_t pid; /* whose /proc entries work: a zombie leader's do not */
	const struct maps *maps;
	const struct memory *memory;
	bool *taken; /* by mapping: belongs to an image already */
	struct elf_images images;
	size_t capacity;
};

static uint64_t page_down(uint64_t address)
{
	return address & ~(uint64_t)(PAGE_BYTES - 1);
}

static bool is_vdso(const struct mapping *mapping)
{
	return strcmp(mapping->path, "[vdso]") == 0;
}

/* ---- opening ---- */

static void image_close(struct elf_image *image)
{
	elf_dynamic_close(image->dynamic);
	elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	free(image->memory_copy);
	free(image->text);
	free(image->path);
	free(image->open_path);
}

static bool is_usable(Elf *elf)
{
	GElf_Ehdr header;

	return elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) && header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == ARCH_ELF_MACHINE && (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

/* Opens path if it is a regular file; where_inode: and only if it is the mapped one. */
static int open_regular(const char *path, const struct mapping *where_inode)
{
	struct stat status;

	/* Looked at before it is opened: to open a device may have effects. */
	if (stat(path, &status) != 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	if (where_inode && (status.st_dev != where_inode->device || status.st_ino != where_inode->inode))
		return -ESTALE;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int open_file(const struct reader *reader, const struct mapping *mapping, struct elf_image *image)
{
	char *path;
	int fd;

	if (asprintf(&path, "/proc/%d/map_files/%lx-%lx", reader->pid, mapping->lo, mapping->hi) < 0)
		return -ENOMEM;
	fd = open_regular(path, NULL);
	if (fd < 0 && fd != -EINVAL && !mapping->deleted) {
		free(path);
		if (asprintf(&path, "/proc/%d/root%s", reader->pid, mapping->path) < 0)
			return -ENOMEM;
		fd = open_regular(path, mapping);
	}
	if (fd < 0) {
		free(path);
		return fd;
	}
	image->open_path = path;
	image->fd = fd;
	/* Read, not mapped: a file that shrinks under a mapping is a SIGBUS. */
	image->elf = elf_begin(fd, ELF_C_READ, NULL);
	return is_usable(image->elf) ? 0 : -ENOEXEC;
}

static int open_memory(const struct reader *reader, const struct mapping *mapping, struct elf_image *image)
{
	size_t size;
	int error = elf_memory_copy(reader->memory, mapping->lo, &image->memory_copy, &size);

	if (error)
		return error;
	image->open_path = strdup("");
	image->elf = elf_memory(image->memory_copy, size);
	return is_usable(image->elf) ? 0 : -ENOEXEC;
}

/* ---- one image ---- */

/* Matches the mapping's file offset to a PT_LOAD. */
static int find_bias(Elf *elf, const struct mapping *mapping, uint64_t *out_bias)
{
	GElf_Phdr load;

	for (unsigned nth = 0; elf_segment_find(elf, PT_LOAD, nth, &load); nth++) {
		const uint64_t start = page_down(load.p_offset);

		if (mapping->file_offset < start || mapping->file_offset >= load.p_offset + load.p_filesz)
			continue;
		*out_bias = mapping->lo - (page_down(load.p_vaddr) + (mapping->file_offset - start));
		return 0;
	}
	return -ENOEXEC;
}

static remote_addr image_end(const struct elf_image *image)
{
	remote_addr end = 0;
	GElf_Phdr load;

	for (unsigned nth = 0; elf_segment_find(image->elf, PT_LOAD, nth, &load); nth++)
		if (image->bias + load.p_vaddr + load.p_memsz > end)
			end = image->bias + load.p_vaddr + load.p_memsz;
	return end;
}

/* Where in the file an address of a code segment comes from. */
static bool code_offset(const struct elf_image *image, remote_addr address, uint64_t *out_offset)
{
	GElf_Phdr load;

	for (unsigned nth = 0; elf_segment_find(image->elf, PT_LOAD, nth, &load); nth++) {
		const remote_addr start = image->bias + page_down(load.p_vaddr);

		if (!(load.p_flags & PF_X) || address < start || address >= image->bias + load.p_vaddr + load.p_filesz)
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
	text[image->text_count++] = (struct elf_text){.lo = mapping->lo, .hi = mapping->hi, .file_offset = file_offset};
	image->text = text;
	return 0;
}

/* Takes the mappings of this image, the first of which is number `first`. */
static int take_mappings(struct reader *reader, size_t first, struct elf_image *image)
{
	const struct mapping *const head = &reader->maps->mapping[first];
	const remote_addr end = image_end(image);
	int error = 0;

	for (size_t i = first; !error && i < reader->maps->count && reader->maps->mapping[i].lo < end; i++) {
		const struct mapping *mapping = &reader->maps->mapping[i];
		const bool own = mapping->device == head->device && mapping->inode == head->inode && (head->inode || i == first);
		const bool anonymous = mapping->inode == 0 && mapping->path[0] == 0;
		uint64_t file_offset = mapping->file_offset;

		if (reader->taken[i] || (!own && !(anonymous && mapping->executable && code_offset(image, mapping->lo, &file_offset))))
			continue;
		reader->taken[i] = true;
		image->hi = mapping->hi;
		if (mapping->executable)
			error = add_text(image, mapping, file_offset);
	}
	return error;
}

static void read_build_id(struct elf_image *image)
{
	GElf_Phdr segment;

	for (unsigned nth = 0; elf_segment_find(image->elf, PT_NOTE, nth, &segment); nth++) {
		Elf_Data *data = elf_getdata_rawchunk(image->elf, (int64_t)segment.p_offset, segment.p_filesz, segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		size_t name, description;
		GElf_Nhdr note;

		for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &description));) {
			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) || note.n_descsz > BUILD_ID_MAX ||
			    memcmp((const char *)data->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) != 0)
				continue;
			memcpy(image->build_id, (const char *)data->d_buf + description, note.n_descsz);
			image->build_id_size = note.n_descsz;
			return;
		}
	}
}

static int image_open(struct reader *reader, size_t first, struct elf_image *image)
{
	const struct mapping *mapping = &reader->maps->mapping[first];
	int error = is_vdso(mapping) ? -ENOENT : open_file(reader, mapping, image);

	image->path = strdup(mapping->path);
	if (error && error != -ENOEXEC)
		error = open_memory(reader, mapping, image);
	if (error)
		return error;
	if (!image->path || !image->open_path)
		return -ENOMEM;
	image->lo = mapping->lo;
	image->device = mapping->device;
	image->inode = mapping->inode;
	image->is_vdso = is_vdso(mapping);
	error = find_bias(image->elf, mapping, &image->bias);
	if (!error)
		error = take_mappings(reader, first, image);
	if (error || image->text_count == 0)
		return error ? error : -ENOEXEC;
	read_build_id(image);
	error = elf_dynamic_open(image->elf, image->memory_copy ? image->bias : 0, &image->dynamic);
	return error == -ENOENT ? 0 : error;
}

/* May this mapping begin an image? */
static bool is_candidate(const struct reader *reader, size_t number)
{
	const struct mapping *mapping = &reader->maps->mapping[number];
	char magic[SELFMAG];

	if (reader->taken[number] || (mapping->inode == 0 && !is_vdso(mapping)))
		return false;
	if (mapping->file_offset != 0)
		return mapping->executable;
	return memory_read(reader->memory, mapping->lo, magic, sizeof(magic)) == 0 && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

static int read_images(struct reader *reader)
{
	struct elf_images *images = &reader->images;

	for (size_t i = 0; i < reader->maps->count; i++) {
		struct elf_image image = {.fd = -1, .link_order = -1};
		int error;

		if (!is_candidate(reader, i))
			continue;
		if (images->count == reader->capacity) {
			const size_t capacity = reader->capacity ? reader->capacity * 2 : 64;
			struct elf_image *grown = reallocarray(images->image, capacity, sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			images->image = grown;
			reader->capacity = capacity;
		}
		error = image_open(reader, i, &image);
		if (error)
			image_close(&image);
		else
			images->image[images->count++] = image;
		if (error == -ENOMEM)
			return error;
	}
	return 0;
}

/* ---- who is who ---- */

static struct elf_image *find_image(const struct elf_images *images, remote_addr address)
{
	size_t low = 0, high = images->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (images->image[middle].hi <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < images->count && images->image[low].lo <= address ? &images->image[low] : NULL;
}

static remote_addr dynamic_address(const struct elf_image *image)
{
	GElf_Phdr segment;

	return elf_segment_find(image->elf, PT_DYNAMIC, 0, &segment) ? image->bias + segment.p_vaddr : 0;
}

/* DT_DEBUG of the program as it lies in memory: the dynamic linker fills it in at start. 0 = none. */
static remote_addr find_r_debug(const struct elf_image *program, const struct memory *memory)
{
	const remote_addr at = dynamic_address(program);
	remote_addr by_name;
	Elf64_Dyn entry;

	for (size_t offset = 0; at && offset < DYNAMIC_BYTES_MAX; offset += sizeof(entry)) {
		if (memory_read(memory, at + offset, &entry, sizeof(entry)) < 0 || entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_DEBUG)
			return entry.d_un.d_ptr;
	}
	/* Where a program was run as `ld.so PROGRAM`, the kernel takes ld.so for the program, and that has no DT_DEBUG. */
	return elf_image_symbol(program, "_r_debug", &by_name, NULL) == 0 ? by_name : 0;
}

static void set_link_order(struct elf_images *images, const remote_addr *dynamic, size_t count)
{
	for (size_t i = 0; i < images->count; i++) {
		struct elf_image *image = &images->image[i];
		const remote_addr own = dynamic_address(image);

		for (size_t order = 0; own && image->link_order < 0 && order < count; order++)
			if (dynamic[order] == own)
				image->link_order = (int)order;
	}
}

/* Finds the main program, the dynamic linker and the order of the rest. */
static int set_roles(const struct reader *reader, struct elf_images *images)
{
	struct elf_image *program, *loader;
	uint64_t entry = 0, base = 0;
	remote_addr *dynamic;
	size_t count;
	int error = proc_auxv(reader->pid, reader->pid, AT_ENTRY, &entry);

	if (error && error != -ENOENT)
		return error;
	program = find_image(images, entry);
	if (!program)
		return -ENOEXEC;
	if (proc_auxv(reader->pid, reader->pid, AT_BASE, &base) == 0 && base && (loader = find_image(images, base)))
		loader->is_loader = true;
	images->r_debug = find_r_debug(program, reader->memory);
	if (images->r_debug) {
		error = link_map_read(reader->memory, images->r_debug, &dynamic, &count);
		if (error)
			return error;
		set_link_order(images, dynamic, count);
		free(dynamic);
	}
	if (program->link_order > 0)
		program->is_loader = true; /* run as `ld.so PROGRAM` */
	else
		program->link_order = 0;
	for (size_t i = 0; i < images->count; i++)
		images->image[i].is_main = images->image[i].link_order == 0;
	return 0;
}

int elf_images_read(pid_t pid, const struct maps *maps, const struct memory *memory, struct elf_images *out_images)
{
	struct reader reader = {.pid = pid, .maps = maps, .memory = memory};
	struct proc_status leader;
	int error;

	elf_version(EV_CURRENT);
	if (memory->tid && proc_status_read(pid, pid, &leader) == 0 && leader.state == 'Z')
		reader.pid = memory->tid;
	reader.taken = calloc(maps->count + 1, sizeof(*reader.taken));
	if (!reader.taken)
		return -ENOMEM;
	error = read_images(&reader);
	free(reader.taken);
	if (!error)
		error = set_roles(&reader, &reader.images);
	if (error) {
		elf_images_close(&reader.images);
		return error;
	}
	*out_images = reader.images;
	return 0;
}

void elf_images_close(struct elf_images *images)
{
	for (size_t i = 0; i < images->count; i++)
		image_close(&images->image[i]);
	free(images->image);
	*images = (struct elf_images){0};
}

const struct elf_image *elf_images_find(const struct elf_images *images, remote_addr address)
{
	return find_image(images, address);
}

/* ---- symbols ---- */

int elf_image_symbol(const struct elf_image *image, const char *name, remote_addr *out_address, uint64_t *out_size)
{
	Elf64_Sym symbol;
	int error = image->dynamic ? elf_dynamic_find(image->dynamic, name, &symbol) : -ENOENT;

	if (error)
		return error;
	*out_address = image->bias + symbol.st_value;
	if (out_size)
		*out_size = symbol.st_size;
	return 0;
}

int elf_images_resolve(const struct elf_images *images, const char *name, remote_addr *out_address, const struct elf_image **out_image)
{
	const struct elf_image *first = NULL;
	remote_addr address = 0, found;

	for (size_t i = 0; i < images->count; i++) {
		const struct elf_image *image = &images->image[i];

		if (image->link_order < 0 || (first && first->link_order < image->link_order))
			continue;
		if (elf_image_symbol(image, name, &found, NULL) == 0) {
			first = image;
			address = found;
		}
	}
	if (!first)
		return -ENOENT;
	*out_address = address;
	if (out_image)
		*out_image = first;
	return 0;
}
