/* SPDX-License-Identifier: MIT */
/*
 * bias.h - address in memory minus address in the ELF file, for modules known only from a memory map, as in other tools' heap profiles.
 */
#ifndef HI_BIAS_H
#define HI_BIAS_H

#include "profile.h"

/* Replaces every PROFILE_BIAS_UNKNOWN. binary: as in symbols.h. Before symbols_resolve(). 0 or -ENOMEM. */
int bias_complete(struct profile *profile, const char *binary);

#endif
