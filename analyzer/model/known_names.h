/* SPDX-License-Identifier: MIT */
/*
 * known_names.h - keeps the names that were looked up for one file, for the next files. In the
 * snapshots of a session the same code lies in the same place, and looking it up a hundred times
 * takes a hundred times as long.
 *
 * The same place is the same address in a module of the same file that is mapped in the same way.
 * Addresses in no module are not remembered. Needs as much memory as the frames of all files
 * together. Zero-initialized = no name is known yet.
 */
#ifndef HI_KNOWN_NAMES_H
#define HI_KNOWN_NAMES_H

#include "profile.h"

struct known_names {
	struct profile profile; /* frames with their lines, and no stacks */
};

/*
 * Fills the lines of frames that have none, where they are known. The biases of the modules must be
 * the same here as in known_names_learn(). 0 or -ENOMEM.
 */
int known_names_apply(struct known_names *names, struct profile *profile);
/* Remembers the lines of a profile whose names were looked up. 0 or -ENOMEM. */
int known_names_learn(struct known_names *names, const struct profile *profile);
void known_names_close(struct known_names *names);

#endif
