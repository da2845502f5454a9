/* SPDX-License-Identifier: MIT */
/*
 * elf_images.c - from the mappings of a process to its ELF objects.
 *
 * A mapping that belongs to no object yet begins a new one if it begins with an ELF header or is
 * executable. The program headers of its file show how far the object reaches. Mappings of the same
 * file in that range belong to it. So do anonymous executable mappings where a code segment should
 * be: some programs move their text to huge pages. Files that are only mapped for reading have no
 * executable mapping and are dropped. Enter at elf_images_read.
 */
#include "elf_images.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "elf_segment.h"
#include "hi_path.h"
#include "probes_name.h"
#include "steps.h"

#define DYNAMIC_MAX 4096u
/* Protects against targets that map objects without end: no real target has so many. */
#define IMAGES_MAX 10000u
#define SEGMENTS_MAX 16u /* mappings of one object that are looked at for its code */
#define COPY_BYTES_MAX (256u << 20)
/* a program of 500 libraries with 20 needs each takes half of them */
#define COMPARISONS_MAX 10000000u

struct reader {
	struct elf_image_source source;
	const struct elf_images *known; /* of the reading before */
	struct elf_images images;
	size_t capacity;
};

static bool has_header(const struct elf_image_source *source, const struct mapping *mapping)
{
	char magic[SELFMAG] = {0};
	struct pages_range range = {
		.lo = mapping->lo, .byte = (uint8_t *)magic, .size = sizeof(magic)};
	const int err = source->pages
				? pages_read(source->pages, source->memory, &range)
				: memory_read(source->memory, mapping->lo, magic, sizeof(magic));

	return err == 0 && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Does code of the same file follow? */
static bool has_code(const struct maps *maps, size_t number)
{
	const struct mapping *head = &maps->mapping[number];

	for (size_t i = number; i < maps->count && i < number + SEGMENTS_MAX; i++) {
		const struct mapping *mapping = &maps->mapping[i];

		if (mapping->inode != head->inode || mapping->device != head->device)
			break;
		if (mapping->executable)
			return true;
	}
	return false;
}

/* May this mapping begin an image? */
static bool is_candidate(const struct reader *reader, size_t number)
{
	const struct elf_image_source *source = &reader->source;
	const struct mapping *mapping = &source->maps->mapping[number];

	if (source->taken[number] ||
	    (mapping->inode == 0 && (source->pages || !elf_image_is_vdso(mapping))) ||
	    is_probes_name(mapping->path))
		return false;
	if (mapping->file_offset != 0)
		return mapping->executable;
	/* no object is mapped so, and to read a hole of shared memory would allocate a page */
	if (mapping->shared && !mapping->executable)
		return false;
	/* a header that is not resident is in the file, which is opened if it is one of code */
	return has_header(source, mapping) || (source->pages && has_code(source->maps, number));
}

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

static int open_image(struct reader *reader, size_t first, struct elf_image *image)
{
	const struct mapping *mapping = &reader->source.maps->mapping[first];
	struct elf_image *known = find_image(reader->known, mapping->lo);

	if (known && elf_image_is_same(known, mapping))
		return elf_image_open_known(&reader->source, first, known, image);
	return elf_image_open(&reader->source, first, image);
}

static int read_images(struct reader *reader)
{
	struct elf_images *images = &reader->images;

	for (size_t i = 0; i < reader->source.maps->count && images->count < IMAGES_MAX; i++) {
		struct elf_image image = {.fd = -1, .link_order = -1};
		int err;

		if (!is_candidate(reader, i))
			continue;
		if (images->count == reader->capacity) {
			const size_t capacity = reader->capacity ? reader->capacity * 2 : 64;
			struct elf_image *grown =
				reallocarray(images->image, capacity, sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			images->image = grown;
			reader->capacity = capacity;
		}
		err = open_image(reader, i, &image);
		if (err)
			elf_image_close(&image);
		else
			images->image[images->count++] = image;
		if (err == -ENOMEM)
			return err;
	}
	return 0;
}

/* ---- roles of the objects -------------------------------------------------------------------- */

static remote_addr dynamic_address(const struct elf_image *image)
{
	GElf_Phdr segment;

	return elf_segment_find(image->elf, PT_DYNAMIC, &segment) ? image->bias + segment.p_vaddr
								  : 0;
}

/* The program's DT_DEBUG in memory: the dynamic linker sets it at start. 0 = none. */
static remote_addr find_r_debug(const struct elf_image *program, const struct memory *memory)
{
	struct steps steps = {DYNAMIC_MAX};
	remote_addr at = dynamic_address(program), by_name;
	Elf64_Dyn entry;

	for (; at && steps_take(&steps); at += sizeof(entry)) {
		if (memory_read(memory, at, &entry, sizeof(entry)) < 0 || entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_DEBUG)
			return entry.d_un.d_ptr;
	}
	/*
	 * If the program was started as `ld.so PROGRAM`, the kernel regards ld.so as the program,
	 * and ld.so has no DT_DEBUG.
	 */
	return elf_image_symbol(program, "_r_debug", &by_name, NULL) == 0 ? by_name : 0;
}

static void set_link_order(struct elf_images *images, const struct link_map_list *list)
{
	size_t read = 0;

	for (size_t i = 0; i < images->count; i++) {
		struct elf_image *image = &images->image[i];
		const remote_addr own = dynamic_address(image);

		for (size_t at = 0; own && !image->is_listed && at < list->count; at++) {
			image->is_listed = list->dynamic[at] == own;
			if (image->is_listed && at < list->base_count)
				image->link_order = (int)at;
		}
		read += image->link_order >= 0 && image->dynamic;
	}
	images->unread = list->base_count > read ? list->base_count - read : 0;
}

/* Is this the object that others name `name` in DT_NEEDED? */
static bool is_named(const struct elf_image *image, const char *name)
{
	size_t at = 0;
	const char *soname =
		image->dynamic ? elf_dynamic_name(image->dynamic, DT_SONAME, &at) : NULL;
	const char *path = strchr(name, '/') ? image->path : hi_base_name(image->path);

	return (soname && strcmp(soname, name) == 0) || strcmp(path, name) == 0;
}

/*
 * The first object of that name in link-map order: a later one was loaded by dlopen, from another
 * directory. NULL: there is none, or the limit on comparisons is reached.
 */
static struct elf_image *find_named(struct elf_images *images, const char *name, struct steps *room)
{
	struct elf_image *first = NULL;

	for (size_t i = 0; i < images->count && steps_take(room); i++) {
		struct elf_image *image = &images->image[i];

		if (image->link_order >= 0 && (!first || image->link_order < first->link_order) &&
		    is_named(image, name))
			first = image;
	}
	return room->left ? first : NULL;
}

/*
 * Marks the objects that `needs` names in DT_NEEDED as pinned, and appends those that were not
 * pinned before to the list. room: bounds the comparisons, because a hostile file may need a
 * million names.
 */
static void add_needed(struct elf_images *images, const struct elf_image *needs,
		       struct elf_image **list, size_t *count, struct steps *room)
{
	const char *name;
	size_t at = 0;

	while (needs->dynamic && room->left &&
	       (name = elf_dynamic_name(needs->dynamic, DT_NEEDED, &at))) {
		struct elf_image *image = find_named(images, name, room);

		if (image && !image->is_pinned) {
			image->is_pinned = true;
			list[(*count)++] = image;
		}
	}
}

/*
 * The link-map position of the first object that the program itself needs. Before it are only the
 * program and the objects loaded by LD_PRELOAD or an option of ld.so.
 */
static int first_needed(const struct elf_images *images)
{
	int first = INT_MAX;

	for (size_t i = 0; i < images->count; i++)
		if (images->image[i].is_pinned && images->image[i].link_order > 0 &&
		    images->image[i].link_order < first)
			first = images->image[i].link_order;
	return first == INT_MAX ? 0 : first;
}

static void add_preloaded(struct elf_images *images, struct elf_image **list, size_t *count)
{
	const int needed = first_needed(images);

	for (size_t i = 0; i < images->count; i++) {
		struct elf_image *image = &images->image[i];

		if (image->is_pinned || image->link_order <= 0 || image->link_order >= needed)
			continue;
		image->is_pinned = true;
		list[(*count)++] = image;
	}
}

/* Marks the objects that are never unloaded. Objects loaded by dlopen are not marked. */
static int mark_pinned(struct elf_images *images, struct elf_image *program)
{
	struct elf_image **list = calloc(images->count, sizeof(struct elf_image *));
	struct steps room = {COMPARISONS_MAX};
	size_t count = 0;

	if (!list)
		return -ENOMEM;
	program->is_pinned = true;
	list[count++] = program;
	add_needed(images, program, list, &count, &room);
	add_preloaded(images, list, &count);
	for (size_t next = 1; next < count; next++)
		add_needed(images, list[next], list, &count, &room);
	free(list);
	return 0;
}

/* Finds the main program, the dynamic linker and the order of the rest. */
static int set_roles(const struct elf_image_source *source, struct elf_images *images)
{
	struct elf_image *program, *loader;
	uint64_t entry = 0, base = 0;
	struct link_map_list list;
	int err = proc_auxv(source->pid, source->memory->tid, AT_ENTRY, &entry);

	if (err && err != -ENOENT)
		return err;
	program = find_image(images, entry);
	if (!program)
		return -ENOEXEC;
	if (proc_auxv(source->pid, source->memory->tid, AT_BASE, &base) == 0 && base &&
	    (loader = find_image(images, base)))
		loader->is_loader = true;
	images->r_debug = find_r_debug(program, source->memory);
	if (images->r_debug) {
		err = link_map_read(source->memory, images->r_debug, &list);
		if (err)
			return err;
		set_link_order(images, &list);
		link_map_list_close(&list);
	}
	if (program->link_order > 0)
		program->is_loader = true; /* run as `ld.so PROGRAM` */
	else
		program->link_order = 0;
	for (size_t i = 0; i < images->count; i++)
		images->image[i].is_main = images->image[i].link_order == 0;
	return mark_pinned(images, program);
}

static int update(struct elf_image_source source, struct elf_images *images)
{
	size_t copy_room = COPY_BYTES_MAX;
	const struct memory *memory = source.memory;
	const pid_t pid = source.pid;
	struct reader reader = {.source = source, .known = images};
	struct proc_status leader;
	int err;

	elf_version(EV_CURRENT);
	reader.source.copy_room = &copy_room;
	if (memory->tid && proc_status_read(pid, pid, &leader) == 0 && leader.state == 'Z')
		reader.source.pid = memory->tid;
	reader.source.taken = calloc(source.maps->count + 1, sizeof(*reader.source.taken));
	if (!reader.source.taken)
		return -ENOMEM;
	err = read_images(&reader);
	free(reader.source.taken);
	if (!err)
		err = set_roles(&reader.source, &reader.images);
	if (err) {
		elf_images_close(&reader.images);
		return err;
	}
	for (size_t i = 0; i < reader.images.count; i++)
		elf_image_take_over(&reader.images.image[i]);
	elf_images_close(images);
	*images = reader.images;
	return 0;
}

int elf_images_update(pid_t pid, const struct maps *maps, const struct memory *memory,
		      struct elf_images *images)
{
	const struct elf_image_source source = {.pid = pid, .maps = maps, .memory = memory};

	return update(source, images);
}

int elf_images_read_resident(pid_t pid, const struct maps *maps, const struct memory *memory,
			     struct pages *pages, struct elf_images *out_images)
{
	const struct elf_image_source source = {
		.pid = pid, .maps = maps, .memory = memory, .pages = pages};

	*out_images = (struct elf_images){0};
	return update(source, out_images);
}

int elf_images_read(pid_t pid, const struct maps *maps, const struct memory *memory,
		    struct elf_images *out_images)
{
	*out_images = (struct elf_images){0};
	return elf_images_update(pid, maps, memory, out_images);
}

void elf_images_close(struct elf_images *images)
{
	for (size_t i = 0; i < images->count; i++)
		elf_image_close(&images->image[i]);
	free(images->image);
	*images = (struct elf_images){0};
}

const struct elf_image *elf_images_find(const struct elf_images *images, remote_addr address)
{
	return find_image(images, address);
}

/* ---- symbols --------------------------------------------------------------------------------- */

int elf_images_resolve(const struct elf_images *images, const char *name, remote_addr *out_address,
		       const struct elf_image **out_image)
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
