/* SPDX-License-Identifier: MIT */
/*
 * read_pprof_tables.h - what the samples of a profile.proto refer to by number: strings, functions,
 * mappings, locations.
 *
 * The message may have them in any order, and before or after the samples. Locations become frames
 * of the profile, mappings become its modules. Zero-initialized except for the profile = empty.
 */
#ifndef HI_READ_PPROF_TABLES_H
#define HI_READ_PPROF_TABLES_H

#include "dropped_frames.h"
#include "profile.h"
#include "protobuf.h"

struct pprof_function {
	uint64_t id;
	uint64_t name, system_name, file; /* string numbers */
	char *shown;                      /* the name as it is shown; NULL = not needed yet */
	int is_dropped;                   /* 1 + dropped_frames_has(); 0 = not needed yet */
};
/* An id in the message, and the module or frame that its entry became. */
struct pprof_entry {
	uint64_t id;
	uint32_t index;
	unsigned char dropped; /* of a frame, enum dropped_at */
};
struct pprof_entries {
	struct pprof_entry *entry;
	size_t count, capacity;
	struct table by_id;
};
struct pprof_tables {
	struct profile *profile;
	char **string;
	size_t string_count, string_capacity;
	struct pprof_function *function;
	size_t function_count, function_capacity;
	struct table functions;
	struct pprof_entries modules, frames;
	struct dropped_frames dropped;
};

/*
 * Adds a field of the profile, if it is a string or a function. 0, also for another field; -EBADMSG
 * for one that makes no sense; -ENOMEM.
 */
int pprof_tables_add(struct pprof_tables *tables, const struct protobuf_field *field);
/* Makes a module of a mapping, once all fields were added. Returns likewise. */
int pprof_tables_add_mapping(struct pprof_tables *tables, const struct protobuf_field *field);
/* Makes a frame of a location, once all mappings were added, without what `dropped` has. Returns
 * likewise. */
int pprof_tables_add_location(struct pprof_tables *tables, const struct protobuf_field *field);
/* False: the table does not reach that far, as it is cut off, or the number is damaged. */
bool pprof_has_string(const struct pprof_tables *tables, uint64_t number);
/* The string of this number; "" for an unknown number, never NULL. */
const char *pprof_string(const struct pprof_tables *tables, uint64_t number);
/* The frame of a location. False: there is none. */
bool pprof_frame(const struct pprof_tables *tables, uint64_t location_id, uint32_t *out_frame,
		 unsigned char *out_dropped);
void pprof_tables_close(struct pprof_tables *tables);

#endif
