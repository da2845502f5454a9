/* SPDX-License-Identifier: MIT */
/*
 * load_count.c - see load_count.h.
 *
 * In struct rtld_global of glibc (2.3 to 2.41 at least) the namespaces come first, each with the
 * head of its list and the number of objects in it. After them are the number of namespaces, two
 * recursive locks or (since 2.35) three, and the count. Nowhere else do such locks lie side by
 * side.
 */
#include "load_count.h"

#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WORD sizeof(uint64_t)
#define BYTES_MAX 65536u
#define NAMESPACES_MAX 16u /* DL_NNS */
#define LOCK_WORDS (sizeof(pthread_mutex_t) / WORD)
#define LOCK_KIND 2u /* the word of a lock whose lower half is its kind */
#define LOCKS_MIN 2u
#define LOCKS_MAX 3u
#define LOADS_MAX (1ull << 40)

struct data {
	const uint64_t *word;
	size_t words;
};

static bool is_recursive_lock(const struct data *data, size_t at)
{
	return at + LOCK_WORDS <= data->words &&
	       (uint32_t)data->word[at + LOCK_KIND] == PTHREAD_MUTEX_RECURSIVE_NP;
}

/* The number of the word; 0: it was not found, or there are several that may be it. */
static size_t find_in(const struct data *data, size_t objects)
{
	size_t found = 0;

	for (size_t i = 2; i < data->words; i++) {
		const uint64_t namespaces = data->word[i];
		size_t at = i + 1, locks = 0;

		if (!namespaces || namespaces > NAMESPACES_MAX)
			continue;
		for (; locks < LOCKS_MAX && is_recursive_lock(data, at); locks++)
			at += LOCK_WORDS;
		if (locks < LOCKS_MIN || at >= data->words || data->word[at] < objects ||
		    data->word[at] > LOADS_MAX)
			continue;
		if (found)
			return 0;
		found = at;
	}
	return found;
}

/* Is it a list of namespaces, the first of which has these objects? */
static bool is_of(const struct data *data, uint64_t first, size_t objects)
{
	return data->words > 2 && data->word[0] == first && (uint32_t)data->word[1] == objects;
}

static const struct elf_image *loader_of(const struct elf_images *images)
{
	for (size_t i = 0; i < images->count; i++)
		if (images->image[i].is_loader)
			return &images->image[i];
	return NULL;
}

remote_addr load_count_find(const struct elf_images *images, const struct memory *memory)
{
	const struct elf_image *loader = loader_of(images);
	struct link_map_list list;
	uint64_t size, *word = NULL, first;
	size_t objects, found = 0;
	remote_addr at;

	if (!loader || !images->r_debug || elf_image_symbol(loader, "_rtld_global", &at, &size) ||
	    size > BYTES_MAX || at % WORD || at < loader->lo || at + size > loader->hi ||
	    memory_read_u64(memory, images->r_debug + offsetof(struct r_debug, r_map), &first) ||
	    link_map_read(memory, images->r_debug, &list))
		return 0;
	objects = list.base_count;
	link_map_list_close(&list);
	word = malloc(size + 1);
	if (word && !memory_read(memory, at, word, size)) {
		const struct data data = {word, size / WORD};

		if (is_of(&data, first, objects))
			found = find_in(&data, objects);
	}
	free(word);
	return found ? at + found * WORD : 0;
}
