/* SPDX-License-Identifier: MIT */
/*
 * publish.h - what the payload may read while it walks a stack: unwind tables of the loaded objects, and the memory regions that hold stacks.
 *
 * Tables are built outside and copied into the arena once per file: their rows do not depend on the load address, so a library that comes back costs a
 * directory line. Both lists are published by writing the one of two copies that is not current and then storing its index; the payload re-checks the
 * generation.
 */
#ifndef HI_PUBLISH_H
#define HI_PUBLISH_H

#include "hi_wire.h"
#include "unwind_table.h"

struct stored_table {
	char *path;
	uint64_t device, inode, file_offset, size; /* which text of which file */
	struct unwind_table table;                 /* until it is in the arena */
	uint64_t rows, index;                      /* offsets in the tables part, once copied */
	uint32_t row_count, index_count;
	bool copied;
};

struct publisher {
	struct stored_table *stored;
	size_t stored_count;
	uint64_t used;        /* bytes of the tables part in use */
	uint64_t room;        /* and all that it has; in a session never read back from the control block, which the target can write */
	uint64_t build_room;  /* bytes of unwind information that may still be read: a target could have us do so without end */
	uint64_t missing;     /* texts that the last publish had no room for a table of */
	remote_addr *learned; /* stack pointers that the payload found in no region */
	size_t learned_count;
	uint64_t rest_until_ns; /* regions are not learned before: in a target with tens of thousands of mappings a look at them takes long */
};

void publisher_open(struct publisher *publisher);
void publisher_close(struct publisher *publisher);

/* Builds the tables of all objects that are new. Before the arena exists: publisher_bytes then tells what it must hold. -ENOMEM. */
must_check int publisher_build(struct publisher *publisher, const struct elf_images *images);
uint64_t publisher_bytes(const struct publisher *publisher);

/* Copies new tables into `tables` (the arena's part, ours to write) and publishes the directory of what is mapped now. */
void publisher_publish_tables(struct publisher *publisher, const struct elf_images *images, struct hi_control *control, uint8_t *tables);

/* Publishes the mappings that may hold a stack: all that can be written and have no file, and every learned stack pointer's. */
void publisher_publish_regions(struct publisher *publisher, const struct maps *maps, struct hi_control *control);
/* Remembers a stack pointer for the next publish. */
must_check int publisher_learn(struct publisher *publisher, remote_addr stack_pointer);

#endif
