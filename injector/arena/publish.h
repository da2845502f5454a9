/* SPDX-License-Identifier: MIT */
/*
 * publish.h - publishes what the payload may read while it walks a stack: unwind tables of the
 * loaded objects, and the memory regions that hold stacks.
 *
 * Tables are built outside and copied into the arena once per file: their rows do not depend on the
 * load address, so a library that is loaded again costs only a directory line. Each of the two
 * lists has two copies. It is published by writing the copy that is not current and then storing
 * its index; the payload re-checks the generation.
 */
#ifndef HI_PUBLISH_H
#define HI_PUBLISH_H

#include "hi_wire.h"
#include "unwind_table.h"

struct stored_table {
	char *path;
	uint64_t device, inode, file_offset, size; /* identify the text and its file */
	struct unwind_table table;                 /* until it is in the arena */
	uint64_t rows, index;                      /* offsets in the tables part, once copied */
	uint32_t row_count, index_count;
	bool copied;
};

#define PUBLISH_CODE_MAX 8u

/*
 * Tables of code that is in no file and changes (hotspot.h). They have two places of equal size in
 * the tables part: one is written while the payload reads the other.
 */
struct published_code {
	uint64_t place[2]; /* offsets in the tables part */
	uint64_t bytes;    /* of each place; 0 = there is none */
	unsigned next;     /* the place to write */
	struct hi_unwind_module module[PUBLISH_CODE_MAX];
	uint32_t count;
};

#define PUBLISH_OWN_MAX 2u

struct publisher {
	struct published_code code;
	/* tables of what is ours in the target (own_rows.h), sorted by address */
	struct hi_unwind_module own[PUBLISH_OWN_MAX];
	uint32_t own_count;
	struct stored_table *stored;
	size_t stored_count;
	uint64_t used; /* bytes of the tables part in use */
	/*
	 * bytes of the tables part; during a session never read back from the control block, which
	 * the target can write
	 */
	uint64_t room;
	/*
	 * bytes of unwind information that may still be read: otherwise a target could make us read
	 * without end
	 */
	uint64_t build_room;
	uint64_t missing;     /* texts whose tables found no room in the last publish */
	remote_addr *learned; /* stack pointers that the payload found in no region */
	size_t learned_count;
	/*
	 * regions are not learned before this time: reading tens of thousands of mappings takes
	 * long
	 */
	uint64_t rest_until_ns;
};

void publisher_open(struct publisher *publisher);
void publisher_close(struct publisher *publisher);

/*
 * Builds the tables of all new objects. Before the arena exists, publisher_bytes then returns how
 * much it must hold. -ENOMEM.
 */
must_check int publisher_build(struct publisher *publisher, const struct elf_images *images);
uint64_t publisher_bytes(const struct publisher *publisher);

/*
 * Copies new tables into `tables` (our mapping of the arena's tables part) and publishes the
 * directory of what is mapped now.
 */
void publisher_publish_tables(struct publisher *publisher, const struct elf_images *images,
			      struct hi_control *control, uint8_t *tables);

/*
 * Sets room aside for changing code: `bytes` twice, or, once the arena exists, what of it a part of
 * the room that is left can hold. Once.
 */
void publisher_reserve_code(struct publisher *publisher, uint64_t bytes);
/*
 * Copies tables of changing code, sorted by address, in place of those of the last call. They take
 * effect by publisher_publish_tables. -ENOSPC: they have no room, and there are none.
 */
must_check int publisher_set_code(struct publisher *publisher, const struct unwind_table *table,
				  size_t count, uint8_t *tables);

/*
 * Copies the table of code that never changes and is of no object. It takes effect by
 * publisher_publish_tables. -ENOSPC: there is no room.
 */
must_check int publisher_add_own(struct publisher *publisher, const struct unwind_table *table,
				 uint8_t *tables);

/*
 * Publishes the mappings that may hold a stack: all that are readable and writable and have no
 * file, and the mapping of every learned stack pointer.
 */
void publisher_publish_regions(struct publisher *publisher, const struct maps *maps,
			       struct hi_control *control);
/* Remembers a stack pointer for the next publish. */
must_check int publisher_learn(struct publisher *publisher, remote_addr stack_pointer);

#endif
