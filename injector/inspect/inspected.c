/* SPDX-License-Identifier: MIT */
/* inspected.c - see inspected.h. */
#include "inspected.h"

#include <errno.h>

int inspected_memory(pid_t pid, struct memory *out_memory)
{
	const pid_t tid = proc_thread_with_memory(pid);

	return tid ? memory_open_to_read(out_memory, pid, tid) : -ESRCH;
}

int inspected_open(struct inspected *inspected, const struct memory *memory, uint64_t deadline_ns)
{
	*inspected = (struct inspected){.memory = memory, .pages = {.fd = -1}};
	int err = maps_of(memory, &inspected->maps);
	if (!err && !inspected->maps.count)
		err = -ESRCH;
	if (err)
		return err;
	pages_open_of(&inspected->pages, memory);
	err = elf_images_read_resident(memory->tid, &inspected->maps, memory, &inspected->pages,
				       &inspected->images);
	if (err)
		return err;
	inspected->source = (struct heap_source){
		.memory = memory,
		.maps = &inspected->maps,
		.images = &inspected->images,
		.pages = &inspected->pages,
		.deadline_ns = deadline_ns,
	};
	return 0;
}

void inspected_close(struct inspected *inspected)
{
	if (inspected->memory)
		pages_close(&inspected->pages);
	elf_images_close(&inspected->images);
	maps_close(&inspected->maps);
	*inspected = (struct inspected){0};
}
