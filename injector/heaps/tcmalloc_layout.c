/* SPDX-License-Identifier: MIT */
/*
 * tcmalloc_layout.c - see tcmalloc_layout.h. The layouts are those of Span, SizeMap,
 * CentralFreeList, PageHeap and TCMalloc_PageMap2 in gperftools' src/.
 */
#include "tcmalloc_layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

/*
 * class SizeMap, from class_to_size_ on; the next array is aligned. The number of classes comes
 * after that, from gperftools 2.11 on after one word more.
 */
#define SIZES_TO_PAGES (TCMALLOC_CLASSES_MAX * 4u)
#define PAGES_TO_COUNT (TCMALLOC_CLASSES_MAX * HEAP_WORD)
#define CLASSES_MIN 32u
#define SIZE_MAX_BYTES (1u << 20)
#define PAGES_MAX 4096u /* of a span of objects */

/* class CentralFreeList */
#define CENTRAL_CLASS 8u
#define CENTRAL_EMPTY 16u
#define CENTRAL_NONEMPTY 64u
#define SPAN_NEXT 16u
#define SPAN_PREVIOUS 24u

#define PAGE_SHIFT_MIN 12u
#define PAGE_SHIFT_MAX 18u
#define SAMPLES_MAX 16u

struct finder {
	struct heap_windows *windows;
	const struct elf_image *image;
	const struct image_data *data;
	struct tcmalloc_layout *layout;
	/* spans of central lists, by which the rest is found */
	remote_addr sample[SAMPLES_MAX];
	struct tcmalloc_descriptor descriptor[SAMPLES_MAX];
	size_t samples;
};

static uint32_t half_at(const struct heap_bytes *bytes, remote_addr at)
{
	uint32_t half;

	memcpy(&half, bytes->byte + (at - bytes->lo), sizeof(half));
	return half;
}

/* ---- size classes ---------------------------------------------------------------------------- */

static unsigned count_classes(const struct heap_bytes *bytes, remote_addr sizes)
{
	unsigned count = 1;

	if (half_at(bytes, sizes) || half_at(bytes, sizes + 4) != HEAP_WORD)
		return 0;
	while (count < TCMALLOC_CLASSES_MAX &&
	       half_at(bytes, sizes + count * 4) > half_at(bytes, sizes + (count - 1) * 4))
		count++;
	for (unsigned i = count; i < TCMALLOC_CLASSES_MAX; i++)
		if (half_at(bytes, sizes + i * 4))
			return 0;
	return count < CLASSES_MIN ? 0 : count;
}

static bool take_classes(struct tcmalloc_layout *layout, const struct heap_bytes *bytes,
			 remote_addr sizes)
{
	const remote_addr pages = (sizes + SIZES_TO_PAGES + HEAP_WORD - 1) / HEAP_WORD * HEAP_WORD;
	const unsigned count = count_classes(bytes, sizes);

	if (!count || heap_bytes_word(bytes, pages) ||
	    (heap_bytes_word(bytes, pages + PAGES_TO_COUNT) != count &&
	     heap_bytes_word(bytes, pages + PAGES_TO_COUNT + HEAP_WORD) != count))
		return false;
	for (unsigned i = 0; i < count; i++) {
		layout->size[i] = half_at(bytes, sizes + i * 4);
		layout->pages[i] = heap_bytes_word(bytes, pages + i * HEAP_WORD);
		if (i && (!layout->pages[i] || layout->pages[i] > PAGES_MAX ||
			  layout->size[i] > SIZE_MAX_BYTES ||
			  layout->pages[i] << PAGE_SHIFT_MAX < layout->size[i]))
			return false;
	}
	layout->class_count = count;
	return true;
}

static bool find_classes(struct finder *finder)
{
	for (size_t i = 0; i < finder->data->count; i++) {
		const struct heap_bytes *bytes = &finder->data->segment[i];
		const size_t size = SIZES_TO_PAGES + PAGES_TO_COUNT + 3 * HEAP_WORD;

		for (remote_addr at = bytes->lo; heap_bytes_has(bytes, at, size); at += 4)
			if (half_at(bytes, at + 4) == HEAP_WORD &&
			    take_classes(finder->layout, bytes, at))
				return true;
	}
	return false;
}

/* ---- central lists --------------------------------------------------------------------------- */

/* Is this the header of a ring? */
static bool is_header(const struct heap_bytes *bytes, remote_addr header)
{
	const uint64_t next = heap_bytes_word(bytes, header + SPAN_NEXT);
	const uint64_t previous = heap_bytes_word(bytes, header + SPAN_PREVIOUS);

	return next && next % HEAP_WORD == 0 && previous && previous % HEAP_WORD == 0 &&
	       (next == header) == (previous == header);
}

/* Nothing is ever in the lists of class 0. */
static bool is_first(const struct heap_bytes *bytes, remote_addr central)
{
	const remote_addr empty = central + CENTRAL_EMPTY, nonempty = central + CENTRAL_NONEMPTY;

	return heap_bytes_word(bytes, empty + SPAN_NEXT) == empty &&
	       heap_bytes_word(bytes, empty + SPAN_PREVIOUS) == empty &&
	       heap_bytes_word(bytes, nonempty + SPAN_NEXT) == nonempty &&
	       heap_bytes_word(bytes, nonempty + SPAN_PREVIOUS) == nonempty &&
	       heap_bytes_word(bytes, central + CENTRAL_CLASS) == 0;
}

static bool is_central(const struct tcmalloc_layout *layout, const struct heap_bytes *bytes,
		       remote_addr central)
{
	for (unsigned i = 1; i < layout->class_count; i++) {
		const remote_addr list = central + i * TCMALLOC_CENTRAL_BYTES;

		if (heap_bytes_word(bytes, list + CENTRAL_CLASS) != i ||
		    !is_header(bytes, list + CENTRAL_EMPTY) ||
		    !is_header(bytes, list + CENTRAL_NONEMPTY) ||
		    half_at(bytes, list + TCMALLOC_CENTRAL_SLOTS_USED) > TCMALLOC_SLOTS_MAX)
			return false;
	}
	return true;
}

static bool find_central(struct finder *finder)
{
	const struct tcmalloc_layout *layout = finder->layout;
	const size_t size = (size_t)layout->class_count * TCMALLOC_CENTRAL_BYTES;

	for (size_t i = 0; i < finder->data->count; i++) {
		const struct heap_bytes *bytes = &finder->data->segment[i];

		for (remote_addr at = bytes->lo; heap_bytes_has(bytes, at, size); at += HEAP_WORD)
			if (is_first(bytes, at) && is_central(layout, bytes, at)) {
				finder->layout->central = at;
				return true;
			}
	}
	return false;
}

/* ---- spans ----------------------------------------------------------------------------------- */

int tcmalloc_descriptor_read(struct heap_windows *windows, remote_addr at,
			     struct tcmalloc_descriptor *out_descriptor)
{
	uint8_t byte[TCMALLOC_DESCRIPTOR_BYTES];
	const int err = heap_windows_read(windows, at, byte, sizeof(byte));

	if (err)
		return err;
	memcpy(&out_descriptor->page, byte, 5 * HEAP_WORD);
	memcpy(&out_descriptor->used, byte + 5 * HEAP_WORD, 2);
	out_descriptor->size_class = byte[5 * HEAP_WORD + 2];
	out_descriptor->flags = byte[5 * HEAP_WORD + 3];
	return 0;
}

/* A span that the central lists of a class name, if it is one. */
static int add_sample(struct finder *finder, remote_addr header, unsigned size_class,
		      remote_addr at)
{
	struct tcmalloc_descriptor descriptor;
	int err;

	if (at == header || finder->samples == SAMPLES_MAX)
		return 0;
	err = tcmalloc_descriptor_read(finder->windows, at, &descriptor);
	if (err)
		return err == -ENODATA ? 0 : err;
	if (descriptor.size_class != size_class ||
	    descriptor.pages != finder->layout->pages[size_class] ||
	    (descriptor.flags & TCMALLOC_LOCATION) || descriptor.previous != header)
		return 0;
	finder->sample[finder->samples] = at;
	finder->descriptor[finder->samples++] = descriptor;
	return 0;
}

static int find_samples(struct finder *finder)
{
	const struct tcmalloc_layout *layout = finder->layout;
	const struct heap_bytes *bytes =
		image_data_find(finder->data, layout->central, TCMALLOC_CENTRAL_BYTES);
	int err = 0;

	for (unsigned i = 1; i < layout->class_count && !err; i++) {
		const remote_addr list = layout->central + i * TCMALLOC_CENTRAL_BYTES;

		for (unsigned header = CENTRAL_EMPTY; header <= CENTRAL_NONEMPTY && !err;
		     header += CENTRAL_NONEMPTY - CENTRAL_EMPTY)
			err = add_sample(finder, list + header, i,
					 heap_bytes_word(bytes, list + header + SPAN_NEXT));
	}
	return err;
}

/* Can pages be of this size, by what is known of a sample? */
static bool is_page_shift(const struct finder *finder, size_t sample, unsigned shift)
{
	const struct tcmalloc_descriptor *descriptor = &finder->descriptor[sample];
	const struct maps *maps = finder->windows->source->maps;
	const remote_addr lo = descriptor->page << shift;
	const remote_addr hi = lo + (descriptor->pages << shift);
	const struct mapping *mapping = maps_find(maps, lo);

	return mapping && mapping->writable && hi <= mapping->hi &&
	       hi - lo >= finder->layout->size[descriptor->size_class] &&
	       (!descriptor->objects || (descriptor->objects >= lo && descriptor->objects < hi));
}

/* ---- the map --------------------------------------------------------------------------------- */

static remote_addr root_slot(const struct tcmalloc_layout *layout, remote_addr root, uint64_t page)
{
	return root + (page >> layout->leaf_bits) * HEAP_WORD;
}

/* Does the map with this root lead to the sample? 0, or 1: it does. */
static int leads_to(struct finder *finder, const struct heap_bytes *bytes, remote_addr root,
		    size_t sample)
{
	const struct tcmalloc_layout *layout = finder->layout;
	const uint64_t page = finder->descriptor[sample].page;
	const bool is_in_map = page >> layout->leaf_bits >> layout->root_bits == 0;
	const remote_addr leaf =
		is_in_map ? heap_bytes_word(bytes, root_slot(layout, root, page)) : 0;
	const uint64_t at = page & ((1ull << layout->leaf_bits) - 1);
	uint64_t found;
	int err;

	if (!leaf || leaf % HEAP_WORD ||
	    !maps_find(finder->windows->source->maps, leaf + at * HEAP_WORD))
		return 0;
	err = heap_windows_word(finder->windows, leaf + at * HEAP_WORD, &found);
	return err == -ENODATA ? 0 : err ? err : found == finder->sample[sample];
}

/* 1, or -ENOMEM. */
static int take_root(struct tcmalloc_layout *layout, const struct heap_bytes *bytes,
		     remote_addr root)
{
	const size_t size = (size_t)HEAP_WORD << layout->root_bits;

	layout->root = malloc(size);
	if (!layout->root)
		return -ENOMEM;
	memcpy(layout->root, bytes->byte + (root - bytes->lo), size);
	return 1;
}

/* Right after the root is the address of a function, which allocates leaves. */
static int find_root_in(struct finder *finder, const struct heap_bytes *bytes)
{
	struct tcmalloc_layout *layout = finder->layout;
	const uint64_t size = HEAP_WORD << layout->root_bits;
	int found = 0;

	for (remote_addr root = bytes->lo; !found && heap_bytes_has(bytes, root, size + HEAP_WORD);
	     root += HEAP_WORD) {
		const uint64_t function = heap_bytes_word(bytes, root + size);
		size_t sample = 0;

		if (function < finder->image->lo || function >= finder->image->hi)
			continue;
		if (clock_now_ns() >= finder->windows->source->deadline_ns)
			return -ETIMEDOUT;
		/* lists change: not all that they named need be spans any more */
		while (!found && sample < finder->samples)
			found = leads_to(finder, bytes, root, sample++);
		if (found > 0)
			found = take_root(layout, bytes, root);
	}
	return found;
}

/* 1: found. */
static int find_root(struct finder *finder)
{
	struct tcmalloc_layout *layout = finder->layout;
	int found = 0;

	for (unsigned shift = PAGE_SHIFT_MIN; shift <= PAGE_SHIFT_MAX && !found; shift++) {
		size_t fitting = 0;

		for (size_t i = 0; i < finder->samples; i++)
			fitting += is_page_shift(finder, i, shift);
		if (2 * fitting <= finder->samples)
			continue;
		layout->page_shift = shift;
		layout->leaf_bits = (TCMALLOC_ADDRESS_BITS - shift + 1) / 2;
		layout->root_bits = TCMALLOC_ADDRESS_BITS - shift - layout->leaf_bits;
		for (size_t i = 0; i < finder->data->count && !found; i++)
			found = find_root_in(finder, &finder->data->segment[i]);
	}
	return found;
}

static int refuse(char *refusal, const char *what)
{
	snprintf(refusal, HEAP_TEXT_MAX, "the layout of this version is not known: no %s", what);
	return -EPROTO;
}

int tcmalloc_layout_find(struct heap_windows *windows, const struct elf_image *image,
			 const struct image_data *data, struct tcmalloc_layout *layout,
			 char *refusal)
{
	struct finder finder = {.windows = windows, .image = image, .data = data, .layout = layout};
	int err;

	if (!find_classes(&finder))
		return -ENOENT;
	if (!find_central(&finder))
		return refuse(refusal, "central lists");
	err = find_samples(&finder);
	if (err)
		return err;
	if (!finder.samples)
		return -ENOENT;
	err = find_root(&finder);
	return err < 0 ? err : err ? 0 : refuse(refusal, "map of pages");
}

void tcmalloc_layout_close(struct tcmalloc_layout *layout)
{
	free(layout->root);
	layout->root = NULL;
}
