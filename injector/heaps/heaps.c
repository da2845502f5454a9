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
	{ALLOCATOR_MUSL, "musl", NULL},
	{ALLOCATOR_JEMALLOC, "jemalloc", NULL},
	{ALLOCATOR_TCMALLOC, "tcmalloc", tcmalloc_heap_walk},
	{ALLOCATOR_MIMALLOC, "mimalloc", NULL},
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

static int walk_one(struct heap_source *source, const struct elf_image *image,
		    enum allocator_family family, const struct heap_visitor *visitor,
		    struct heaps *heaps)
{
	const struct reader *reader = reader_of(family);
	struct heap_found found = {0};
	int err = 0;

	snprintf(found.name, sizeof(found.name), "%s", reader->name);
	if (reader->walk)
		err = reader->walk(source, image, visitor, &found);
	else
		snprintf(found.refusal, sizeof(found.refusal), "heaps of %s cannot be read",
			 reader->name);
	if (!err && heaps->count < HEAPS_MAX)
		heaps->found[heaps->count++] = found;
	return err == -ENOENT ? 0 : err;
}

/* The C library's own malloc is there even where the program has another one. */
static const struct elf_image *other_glibc(const struct elf_images *images,
					   const struct allocators *allocators)
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
		    allocator.family == ALLOCATOR_GLIBC)
			return image;
	}
	return NULL;
}

/*
 * In a stripped program that has the C library linked in, no symbol says that it has an allocator.
 * Its heap is found by what it looks like.
 */
static int walk_unnamed(struct heap_source *source, const struct heap_visitor *visitor,
			struct heaps *heaps)
{
	for (size_t i = 0; i < source->images->count; i++)
		if (source->images->image[i].is_main)
			return walk_one(source, &source->images->image[i], ALLOCATOR_GLIBC, visitor,
					heaps);
	return 0;
}

int heaps_walk(struct heap_source *source, const struct heap_visitor *visitor,
	       struct heaps *out_heaps)
{
	static struct allocators allocators;
	int err = allocators_find(source->images, source->memory, NULL, &allocators);

	*out_heaps = (struct heaps){0};
	if (err && err != -ENOENT)
		return err;
	if (err == -ENOENT)
		return walk_unnamed(source, visitor, out_heaps);
	for (size_t i = 0; i < allocators.count && !err; i++)
		err = walk_one(source, allocators.allocator[i].image,
			       allocators.allocator[i].family, visitor, out_heaps);
	const struct elf_image *glibc = err ? NULL : other_glibc(source->images, &allocators);
	return glibc ? walk_one(source, glibc, ALLOCATOR_GLIBC, visitor, out_heaps) : err;
}
