/* SPDX-License-Identifier: MIT */
/*
 * arena_file.h - the memfd that backs the arena: made in the target, filled from outside.
 *
 * All code is in the file before the target maps it: no page that is executable there is ever
 * written to. The functions fill the fields of struct arena that they name; on failure the caller
 * closes that.
 */
#ifndef HI_ARENA_FILE_H
#define HI_ARENA_FILE_H

#include "arena.h"

/* Creates the file, and opens it here: sets target_fd and memfd. */
must_check int arena_file_create(struct arena *arena, struct remote *remote);
/*
 * Sets the file's size for good, maps its shared parts here, and writes the control block and what
 * does not depend on the arena's address: image and the last gate entry. Sets all other fields.
 */
must_check int arena_file_fill(struct arena *arena, const struct hi_control *layout,
			       const struct payload_image *payload);
/*
 * Writes to a part that is to be private, before that is mapped, and keeps a copy, with which the
 * part is compared once it is mapped. offset: in the arena, in bytes.
 */
must_check int arena_file_put(const struct arena *arena, const void *bytes, size_t size,
			      uint64_t offset);
/* The copy of the byte at `offset`; NULL if that does not lie in a part that is to be private. */
uint8_t *arena_file_kept(const struct arena *arena, uint64_t offset);

#endif
