/* SPDX-License-Identifier: MIT */
/*
 * link_map.c - the dynamic linker's list of loaded objects.
 *
 * The debugger's interface, the same in glibc and musl: struct r_debug, and from it a chain of
 * struct link_map. glibc 2.35 appended r_next (r_version 2), which leads to the r_debug of the next
 * namespace (dlmopen).
 */
#include "link_map.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "hi_wire.h"
#include "steps.h"

#define OBJECTS_MAX 10000u
#define NAMESPACES_MAX 64u
#define LIST_STEP 64u
#define NAME_BYTES 128u /* plugins differ at the end of their paths */

/* glibc's struct r_debug_extended, which older headers lack. */
struct debug {
	struct r_debug base;
	remote_addr next;
};

/* The public head of struct link_map, with addresses for pointers, up to what is needed of it. */
struct link {
	remote_addr address, name, dynamic, next;
};
_Static_assert(sizeof(struct link) == offsetof(struct link_map, l_prev),
	       "link.h: public part of the link map");

static int read_debug(const struct memory *memory, remote_addr at, struct look *look,
		      struct debug *out_debug)
{
	int err = look_read(look, memory, at, &out_debug->base, sizeof(out_debug->base));

	out_debug->next = 0;
	if (!err && out_debug->base.r_version >= 2)
		err = look_read(look, memory, at + sizeof(struct r_debug), &out_debug->next,
				sizeof(out_debug->next));
	return err;
}

/* Appends the chain that begins at `at`. */
static int read_chain(const struct memory *memory, remote_addr at, struct steps *steps,
		      struct link_map_list *list)
{
	struct link link;
	int err = 0;

	for (; !err && at && steps_take(steps); at = link.next) {
		remote_addr *grown = list->dynamic;

		if (list->count % LIST_STEP == 0)
			grown = reallocarray(list->dynamic, list->count + LIST_STEP,
					     sizeof(*list->dynamic));
		if (!grown)
			return -ENOMEM;
		list->dynamic = grown;
		err = memory_read(memory, at, &link, sizeof(link));
		if (!err)
			list->dynamic[list->count++] = link.dynamic;
	}
	return err;
}

int link_map_read(const struct memory *memory, remote_addr r_debug, struct link_map_list *out_list)
{
	struct steps objects = {OBJECTS_MAX}, namespaces = {NAMESPACES_MAX};
	struct link_map_list list = {0};
	int err = 0;

	while (!err && r_debug && steps_take(&namespaces)) {
		struct debug debug = {0};

		err = read_debug(memory, r_debug, NULL, &debug);
		if (!err)
			err = read_chain(memory, (remote_addr)(uintptr_t)debug.base.r_map, &objects,
					 &list);
		if (!list.base_count)
			list.base_count = list.count;
		r_debug = debug.next;
	}
	if (err)
		link_map_list_close(&list);
	else
		*out_list = list;
	return err;
}

void link_map_list_close(struct link_map_list *list)
{
	free(list->dynamic);
	*list = (struct link_map_list){0};
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/*
 * Adds the beginning of a name to *hash. One that cannot be read is not added. Only the name is
 * remembered by the look: what lies behind it may be the program's, and change all the time.
 */
static void hash_name(const struct memory *memory, remote_addr at, struct look *look,
		      uint64_t *hash)
{
	char name[NAME_BYTES + 1];
	const size_t in_page = HI_PAGE_BYTES - at % HI_PAGE_BYTES,
		     size = in_page < NAME_BYTES ? in_page : NAME_BYTES;

	if (memory_read(memory, at, name, size))
		return;
	name[size] = 0;
	const size_t length = strlen(name), with_end = length + (length < size);

	if (look && look_read(look, memory, at, name, with_end))
		return;
	for (size_t i = 0; i < length; i++)
		*hash = mix(*hash, (unsigned char)name[i]);
}

/*
 * Adds the chain that begins at `at` to *hash. An object is identified by its name and by the
 * addresses of its node, of its name, of its dynamic section, and of the object itself: another
 * plugin of that size gets the same addresses.
 */
static int hash_chain(const struct memory *memory, remote_addr at, struct look *look,
		      struct steps *steps, uint64_t *hash)
{
	struct link link;

	for (; at && steps_take(steps); at = link.next) {
		const int err = look_read(look, memory, at, &link, sizeof(link));

		if (err)
			return err;
		*hash = mix(mix(mix(mix(*hash, at), link.address), link.dynamic), link.name);
		if (link.name)
			hash_name(memory, link.name, look, hash);
	}
	return 0;
}

int link_map_fingerprint(const struct memory *memory, remote_addr r_debug, struct look *look,
			 uint64_t *out_fingerprint)
{
	struct steps objects = {OBJECTS_MAX}, namespaces = {NAMESPACES_MAX};
	uint64_t hash = 0;
	int err = 0;

	while (r_debug && steps_take(&namespaces)) {
		struct debug debug;

		err = read_debug(memory, r_debug, look, &debug);
		if (!err && debug.base.r_state != RT_CONSISTENT)
			err = -EAGAIN;
		if (!err)
			err = hash_chain(memory, (remote_addr)(uintptr_t)debug.base.r_map, look,
					 &objects, &hash);
		if (err)
			return err;
		hash = mix(hash, debug.next);
		r_debug = debug.next;
	}
	*out_fingerprint = hash;
	return 0;
}
