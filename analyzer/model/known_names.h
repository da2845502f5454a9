/* SPDX-License-Identifier: MIT */
/*
 * known_names.h - names that were looked up for one file, for the next ones: in the snapshots of a session the same code lies in the same place, and to look it
 * up a hundred times takes a hundred times as long.
 *
 * The same place is an address in a module of the same file that is mapped alike; what lies in no module is not remembered. Holds as much as the frames of all
 * files together. Zero-initialized = nothing known yet.
 */
#ifndef HI_KNOWN_NAMES_H
#define HI_KNOWN_NAMES_H

#include "profile.h"

struct known_names {
	struct profile profile; /* frames with their lines, and no stacks */
};

/* Gives the frames that have no lines those that are known. The biases of the modules must be what they will be when it learns. 0 or -ENOMEM. */
int known_names_tell(struct known_names *names, struct profile *profile);
/* From a profile whose names were looked up. 0 or -ENOMEM. */
int known_names_learn(struct known_names *names, const struct profile *profile);
void known_names_close(struct known_names *names);

#endif
