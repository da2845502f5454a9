/* SPDX-License-Identifier: MIT */
/* heaps.c - see heaps.h. */
#include "heaps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "elf_symbols.h"

struct reader {
	enum allocator_family family;
	const char *name;
	heap_reader *walk; /* NULL: there is no reader for it */
};

static const struct reader readers[] = {
	{ALLOCATOR_GLIBC, "glibc", glibc_heap_walk},
	{ALLOCATOR_MUSL, "musl", musl_heap_walk},
	{ALLOCATOR_JEMALLOC, "jemalloc", jemalloc_heap_walk},
	{ALLOCATOR_TCMALLOC, "tcmalloc", tcmalloc_heap_walk},
	{ALLOCATOR_MIMALLOC, "mimalloc", mimalloc_heap_walk},
	{ALLOCATOR_DPDK, "DPDK", NULL},
	{ALLOCATOR_UNKNOWN, "an unknown allocator", NULL},
};

static const struct reader *reader_of(enum allocator_family family)
{
	size_t at = 0;

	while (readers[at].family != family && readers[at].family != ALLOCATOR_UNKNOWN)
		at++;
	return &readers[at];
}

/*
 * An object that was stripped may have an allocator whose functions have no names: a reader that
 * finds its structures is right.
 */
static int walk_nameless(struct heap_source *source, const struct elf_image *image,
			 const struct heap_visitor *visitor, struct heaps *heaps)
{
	int err = 0;

	for (size_t i = 0; readers[i].family != ALLOCATOR_UNKNOWN && !err; i++) {
		struct heap_found found = {0};

		if (!readers[i].walk)
			continue;
		err = readers[i].walk(source, image, visitor, &found);
		if (!err && !found.refusal[0] && heaps->count < HEAPS_MAX)
			heaps->found[heaps->count++] = found;
		err = err == -ENOENT ? 0 : err;
	}
	return err;
}

static int walk_one(struct heap_source *source, const struct elf_image *image,
		    enum allocator_family family, const struct heap_visitor *visitor,
		    struct heaps *heaps)
{
	const struct reader *reader = reader_of(family);
	struct heap_found found = {0};
	const size_t before = heaps->count;
	int err = 0;

	if (family == ALLOCATOR_UNKNOWN)
		err = walk_nameless(source, image, visitor, heaps);
	if (err || heaps->count > before)
		return err;
	snprintf(found.name, sizeof(found.name), "%s", reader->name);
	if (reader->walk)
		err = reader->walk(source, image, visitor, &found);
	else
		snprintf(found.refusal, sizeof(found.refusal), "heaps of %s cannot be read",
			 reader->name);
	if (!err && heaps->count < HEAPS_MAX)
		heaps->found[heaps->count++] = found;
	heaps->unused += err == -ENOENT;
	return err == -ENOENT ? 0 : err;
}

/* The C library's own malloc is there even where the program has another one. */
static const struct elf_image *other_libc(const struct elf_images *images,
					  const struct allocators *allocators,
					  enum allocator_family *out_family)
{
	for (size_t i = 0; i < images->count; i++) {
		const struct elf_image *image = &images->image[i];
		size_t room = ELF_SYMBOLS_BYTES_MAX;
		struct allocator allocator;
		bool is_known = false;

		for (size_t j = 0; j < allocators->count; j++)
			is_known |= allocators->allocator[j].image == image;
		if (!is_known && image->elf && image->dynamic &&
		    allocator_open(image, "", &room, &allocator) &&
		    (allocator.family == ALLOCATOR_GLIBC || allocator.family == ALLOCATOR_MUSL)) {
			*out_family = allocator.family;
			return image;
		}
	}
	return NULL;
}

static const struct elf_image *program_of(const struct elf_images *images)
{
	for (size_t i = 0; i < images->count; i++)
		if (images->image[i].is_main)
			return &images->image[i];
	return NULL;
}

int heaps_walk(struct heap_source *source, const struct heap_visitor *visitor,
	       struct heaps *out_heaps)
{
	static struct allocators allocators;
	bool is_known = false; /* the program itself has one */
	int err = allocators_find(source->images, source->memory, NULL, &allocators);

	*out_heaps = (struct heaps){0};
	if (err && err != -ENOENT)
		return err;
	if (err == -ENOENT)
		allocators.count = 0;
	err = 0;
	for (size_t i = 0; i < allocators.count && !err; i++)
		err = walk_one(source, allocators.allocator[i].image,
			       allocators.allocator[i].family, visitor, out_heaps);
	enum allocator_family family;
	const struct elf_image *libc =
		err ? NULL : other_libc(source->images, &allocators, &family);
	if (libc)
		err = walk_one(source, libc, family, visitor, out_heaps);
	for (size_t i = 0; i < allocators.count; i++)
		is_known |= allocators.allocator[i].image->is_main;
	const struct elf_image *program = program_of(source->images);
	return err || is_known || !program ? err
					   : walk_nameless(source, program, visitor, out_heaps);
}
