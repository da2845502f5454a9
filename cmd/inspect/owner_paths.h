/* SPDX-License-Identifier: MIT */
/*
 * owner_paths.h - why blocks are there: by which pointers they are reached.
 */
#ifndef HI_OWNER_PATHS_H
#define HI_OWNER_PATHS_H

#include <stdio.h>

#include "owner_name.h"
#include "shortest_paths.h"

#define OWNER_PATHS_SHOWN 10u

/* Paths of one shape. */
struct owner_path {
	uint64_t shape;
	uint32_t node; /* the first block that is reached so */
	uint32_t count;
};

struct owner_paths {
	struct shortest_paths shortest;
	const char *wanted;      /* the caller's: an address, or a class as it is printed */
	struct owner_path *path; /* most common first */
	size_t count;
	uint32_t blocks; /* that are what was asked for */
};

/* The part that takes most memory, before rights are given up. 0 or -ENOMEM. */
must_check int owner_paths_open(const struct owners *owners, const char *wanted,
				struct owner_paths *out_paths);
/* After that: finds the blocks. 0 or -ENOMEM. */
must_check int owner_paths_find(struct owner_paths *paths, const struct owner_names *names);
void owner_paths_close(struct owner_paths *paths);

void owner_paths_print(const struct owner_paths *paths, const struct owner_names *names, FILE *out);
/* The member why, after a comma. */
void owner_paths_print_json(const struct owner_paths *paths, const struct owner_names *names,
			    FILE *out);

#endif
