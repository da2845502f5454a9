/* SPDX-License-Identifier: MIT */
/*
 * Room hotspot/: the code of a JVM, read from outside by the description that HotSpot has of itself
 * for debuggers.
 *
 *   hotspot.h          all of it, and renewed: start here
 *   hotspot_layout.h   that description
 *   hotspot_code.h     the pieces of code that there are
 *   hotspot_texts.h    names of their kinds
 *   hotspot_rows.h     their frames as unwind rows
 *   hotspot_names.h    names of methods
 *   hotspot_methods.h  those of interpreted ones, as they come and go
 *   hotspot_unloads.h  how many classes have gone
 *
 * Uses unwind/, elf/, target/. Nothing of the JVM is called, stopped or written.
 */

/*
 * hotspot.h - the unwind tables of a JVM's compiled code and stubs. They come and go while it runs:
 * each look reads what there is, and makes the tables anew if it differs from before.
 */
#ifndef HI_HOTSPOT_H
#define HI_HOTSPOT_H

#include "hotspot_code.h"
#include "hotspot_names.h"
#include "unwind_table.h"

struct hotspot {
	bool is_known; /* there is a JVM, and its description is sound */
	int refused;   /* the error for which it is not followed; 0 = none so far */
	struct hotspot_layout layout;
	struct hotspot_texts texts;
	struct hotspot_code code;
	struct hotspot_code whole; /* the last that was read as a whole */
	struct unwind_table table[HOTSPOT_HEAPS_MAX];
	size_t table_count;
	uint64_t due_ns;   /* when to read the whole again (clock.h) */
	uint64_t early_ns; /* when to look for new code, if a stack could not be followed */
};

/* Looks for a JVM among the objects, unless one is known or was refused. False: there is none. */
bool hotspot_find(struct hotspot *hotspot, const struct elf_images *images,
		  const struct memory *memory);
/* How many bytes its tables may take. 0: not known. */
uint64_t hotspot_bytes(const struct hotspot *hotspot, const struct memory *memory);
/* Is it time for another look? is_missing: a stack could not be followed. */
bool hotspot_is_due(const struct hotspot *hotspot, bool is_missing);
/*
 * Reads the code: as a whole if that is due, and else what is new since then. 1: table[] is new; 0:
 * it is as before. On an error there are no tables: old ones would lead astray.
 */
must_check int hotspot_look(struct hotspot *hotspot, const struct memory *memory);
/* The piece of code at pc, as of the last look; NULL: there was none. */
const struct hotspot_blob *hotspot_at(const struct hotspot *hotspot, remote_addr pc);
/* Its name: of compiled code the method's, else what the JVM calls it. -EPROTO: none can be read.
 */
must_check int hotspot_name(const struct hotspot *hotspot, const struct memory *memory,
			    const struct hotspot_blob *blob, char name[HOTSPOT_NAME_MAX]);
void hotspot_close(struct hotspot *hotspot);

#endif
