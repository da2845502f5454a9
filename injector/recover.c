/* SPDX-License-Identifier: MIT */
/* recover.c - see recover.h. */
#include "recover.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARENA_PATH "/memfd:" HI_MEMFD_NAME

static bool is_arena(const struct mapping *mapping, remote_addr base)
{
	return !strcmp(mapping->path, ARENA_PATH) && mapping->lo - mapping->file_offset == base;
}

static bool all_is_arena(const struct maps *maps, remote_addr base, uint64_t size)
{
	for (remote_addr at = base; at < base + size;) {
		const struct mapping *mapping = maps_find(maps, at);
		if (!mapping || !is_arena(mapping, base))
			return false;
		at = mapping->hi;
	}
	return true;
}

/* One behind the other, as arena_layout places them, up to the end of the arena; where a size is known beforehand, of that size. */
static bool parts_are_sound(const struct hi_control *control)
{
	const struct hi_part *parts[] = {&control->ring, &control->tables, &control->image, &control->gate, &control->words, &control->state};
	uint64_t end = HI_CONTROL_BYTES;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i]->offset != end || parts[i]->size % HI_PAGE_BYTES || __builtin_add_overflow(end, parts[i]->size, &end))
			return false;
	return end == control->arena_size && control->gate.size == HI_GATE_BYTES && control->words.size == HI_GATE_BYTES && control->bucket_bits < 32 &&
	       control->state.size == arena_state_layout(control->bucket_bits).size;
}

/*
 * A block that does not fit the mappings it was found in is not followed: what it says is ours will be unmapped. From the gate on sizes are known, and not every part has
 * our name: the state is anonymous, and so is a gate that was made inert already.
 */
static bool is_sound(const struct hi_control *control, const struct maps *maps, remote_addr base, pid_t pid)
{
	return control->magic == HI_WIRE_MAGIC && control->version == HI_WIRE_VERSION && (control->arena == base || !control->arena) &&
	       (pid_t)control->pid == pid && control->gate_count <= HI_GATE_ENTRIES && control->loader <= HI_LOADER_DLOPEN && parts_are_sound(control) &&
	       control->arena_size <= UINT64_MAX - base && all_is_arena(maps, base, control->gate.offset);
}

static int copy_control(struct attachment *attachment, const struct maps *maps, remote_addr base)
{
	struct hi_control *control = malloc(sizeof *control);
	if (!control)
		return -ENOMEM;
	int err = memory_read(&attachment->memory, base, control, sizeof *control);
	if (!err && !is_sound(control, maps, base, attachment->pid))
		err = -EPROTO;
	if (err) {
		free(control);
		return err;
	}
	control->arena = base; /* killed between the mapping and the note of it */
	attachment->control = control;
	attachment->control_is_copy = true;
	return 0;
}

static void find_descriptors(struct attachment *attachment, const char *prefix)
{
	char path[64], link[64];
	snprintf(path, sizeof path, "/proc/%d/task/%d/fd", (int)attachment->pid, (int)attachment->tid);
	DIR *dir = opendir(path);
	if (!dir)
		return;
	for (const struct dirent *entry; (entry = readdir(dir)) && attachment->leftover_count < LEFTOVER_MAX;) {
		const ssize_t size = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
		if (size <= 0)
			continue;
		link[size] = 0;
		if (!strncmp(link, prefix, strlen(prefix)))
			attachment->leftover_fd[attachment->leftover_count++] = atoi(entry->d_name);
	}
	closedir(dir);
}

/* Where the arena begins, 0 = there is none. */
static remote_addr find_arena(const struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		if (!strcmp(maps->mapping[i].path, ARENA_PATH) && maps->mapping[i].shared)
			return maps->mapping[i].lo - maps->mapping[i].file_offset;
	return 0;
}

int recover(struct attachment *attachment)
{
	struct maps maps;
	int err = maps_read(attachment->pid, attachment->tid, &maps);
	if (err)
		return err;
	const remote_addr base = find_arena(&maps);
	/* With an arena the loader closes its own: if we closed them once more, their numbers might be the application's by then. */
	find_descriptors(attachment, base ? ARENA_PATH " " : ARENA_PATH);
	err = base ? copy_control(attachment, &maps, base) : -ENOENT;
	maps_close(&maps);
	return err ? err : payload_image_open(&attachment->payload);
}
