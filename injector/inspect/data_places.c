/* SPDX-License-Identifier: MIT */
/* data_places.c - see data_places.h. */
#include "data_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array_room.h"
#include "elf_segment.h"
#include "elf_symbols.h"

#define NAMES_BYTES_MAX (256u << 20)
#define NAME_BYTES_MAX 4096u

/* ---- segments -------------------------------------------------------------------------------- */

static int add_segments(struct data_places *places, const struct elf_image *image)
{
	GElf_Phdr segment;
	size_t at = 0;

	while (image->elf && elf_segment_next(image->elf, PT_LOAD, &at, &segment)) {
		const remote_addr lo = image->bias + segment.p_vaddr;

		if (!(segment.p_flags & PF_W) || lo + segment.p_memsz <= lo)
			continue;
		const int err = array_make_room((void **)&places->segment, places->segment_count,
						&places->segment_room, sizeof(*places->segment), 1);
		if (err)
			return err;
		places->segment[places->segment_count++] = (struct data_segment){
			.lo = lo,
			.hi = lo + segment.p_memsz,
			.bss = lo + (segment.p_filesz < segment.p_memsz ? segment.p_filesz
									: segment.p_memsz),
			.image = image,
		};
	}
	return 0;
}

static int compare_segments(const void *a, const void *b)
{
	const struct data_segment *left = a, *right = b;

	return (left->lo > right->lo) - (left->lo < right->lo);
}

const struct data_segment *data_places_segment(const struct data_places *places, remote_addr at)
{
	size_t low = 0, high = places->segment_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (places->segment[middle].lo <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at < places->segment[low - 1].hi ? &places->segment[low - 1] : NULL;
}

/* ---- variables ------------------------------------------------------------------------------- */

struct search {
	struct data_places *places;
	const struct elf_image *image;
	int err;
};

/* Versions are no part of a variable's name. */
static size_t name_size(const char *name)
{
	const size_t size = strnlen(name, NAME_BYTES_MAX);
	const char *version = memchr(name, '@', size);

	return version ? (size_t)(version - name) : size;
}

static void take(void *context, const char *name, remote_addr address, uint64_t bytes)
{
	struct search *search = context;
	struct data_places *places = search->places;
	const struct data_segment *segment = data_places_segment(places, address);
	const size_t size = name_size(name);

	if (search->err || !size || !segment || segment->image != search->image || !bytes ||
	    bytes > segment->hi - address)
		return;
	if (places->variable_count == DATA_VARIABLES_MAX ||
	    places->names_size + size >= NAMES_BYTES_MAX) {
		places->is_cut = true;
		return;
	}
	search->err = array_make_room((void **)&places->variable, places->variable_count,
				      &places->variable_room, sizeof(*places->variable), 1);
	if (!search->err)
		search->err = array_make_room((void **)&places->names, places->names_size,
					      &places->names_room, 1, size + 1);
	if (search->err)
		return;
	places->variable[places->variable_count++] =
		(struct data_variable){address, address + bytes, places->names_size};
	memcpy(places->names + places->names_size, name, size);
	places->names_size += size;
	places->names[places->names_size++] = 0;
}

/* Of several names for the same place the first is that without an underscore. */
static int compare_variables(const void *a, const void *b, void *names)
{
	const struct data_variable *left = a, *right = b;

	if (left->lo != right->lo)
		return left->lo < right->lo ? -1 : 1;
	if (left->hi != right->hi)
		return left->hi > right->hi ? -1 : 1;
	const char *one = (const char *)names + left->name,
		   *other = (const char *)names + right->name;

	if ((*one == '_') != (*other == '_'))
		return *one == '_' ? 1 : -1;
	return strcmp(one, other);
}

/* What lies within another variable is a part of it. */
static void sort_variables(struct data_places *places)
{
	size_t kept = 0;

	if (places->variable_count)
		qsort_r(places->variable, places->variable_count, sizeof(*places->variable),
			compare_variables, places->names);
	for (size_t i = 0; i < places->variable_count; i++)
		if (!kept || places->variable[i].lo >= places->variable[kept - 1].hi)
			places->variable[kept++] = places->variable[i];
	places->variable_count = kept;
}

const struct data_variable *data_places_variable(const struct data_places *places, remote_addr at)
{
	size_t low = 0, high = places->variable_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (places->variable[middle].lo <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at < places->variable[low - 1].hi ? &places->variable[low - 1] : NULL;
}

/* ---- all ------------------------------------------------------------------------------------- */

int data_places_find(const struct elf_images *images, struct data_places *out_places)
{
	struct search search = {.places = out_places};
	size_t room = ELF_SYMBOLS_BYTES_MAX;

	*out_places = (struct data_places){0};
	for (size_t i = 0; i < images->count && !search.err; i++)
		search.err = add_segments(out_places, &images->image[i]);
	if (out_places->segment_count)
		qsort(out_places->segment, out_places->segment_count, sizeof(*out_places->segment),
		      compare_segments);
	for (size_t i = 0; i < images->count && !search.err; i++) {
		search.image = &images->image[i];
		if (search.image->elf)
			elf_symbols_visit_variables(search.image, &room, take, &search);
	}
	sort_variables(out_places);
	return search.err;
}

void data_places_close(struct data_places *places)
{
	free(places->segment);
	free(places->variable);
	free(places->names);
	*places = (struct data_places){0};
}
