/* SPDX-License-Identifier: MIT */
/* recover.c - see recover.h. */
#include "recover.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool part_is_within(const struct hi_part *part, uint64_t size)
{
	return part->offset % HI_PAGE_BYTES == 0 && part->offset <= size && part->size <= size - part->offset;
}

/* A block that does not fit the mapping it was found in is not followed. */
static bool is_sound(const struct hi_control *control, remote_addr base, pid_t pid)
{
	const uint64_t size = control->arena_size;
	return control->magic == HI_WIRE_MAGIC && control->version == HI_WIRE_VERSION && (control->arena == base || !control->arena) &&
	       (pid_t)control->pid == pid && control->bucket_bits < 32 && control->gate_count <= HI_GATE_ENTRIES && control->loader <= HI_LOADER_DLOPEN &&
	       size <= UINT64_MAX - base && part_is_within(&control->ring, size) && part_is_within(&control->tables, size) &&
	       part_is_within(&control->image, size) && part_is_within(&control->gate, size) && part_is_within(&control->words, size) &&
	       part_is_within(&control->state, size);
}

static int copy_control(struct attachment *attachment, remote_addr base)
{
	struct hi_control *control = malloc(sizeof *control);
	if (!control)
		return -ENOMEM;
	int err = memory_read(&attachment->memory, base, control, sizeof *control);
	if (!err && !is_sound(control, base, attachment->pid))
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
	snprintf(path, sizeof path, "/proc/%d/fd", (int)attachment->pid);
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

int recover(struct attachment *attachment)
{
	struct maps maps;
	int err = maps_read(attachment->pid, attachment->tid, &maps);
	if (err)
		return err;
	remote_addr base = 0;
	for (size_t i = 0; i < maps.count && !base; i++)
		if (!strcmp(maps.mapping[i].path, "/memfd:" HI_MEMFD_NAME) && maps.mapping[i].shared)
			base = maps.mapping[i].lo - maps.mapping[i].file_offset;
	maps_close(&maps);
	/* With an arena the loader closes its own: if we closed them once more, their numbers might be the application's by then. */
	find_descriptors(attachment, base ? "/memfd:" HI_MEMFD_NAME " " : "/memfd:" HI_MEMFD_NAME);
	if (!base)
		return -ENOENT;
	err = copy_control(attachment, base);
	return err ? err : payload_image_open(&attachment->payload);
}
