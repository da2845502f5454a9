/* SPDX-License-Identifier: MIT */
/*
 * bias.h - finds the bias (address in memory minus address in the ELF file) of modules that are
 * known only from a memory map, as in other tools' heap profiles.
 */
#ifndef HI_BIAS_H
#define HI_BIAS_H

#include "file_source.h"
#include "profile.h"

/*
 * Replaces every PROFILE_BIAS_UNKNOWN. Call this before symbols_resolve(). 0 or -ENOMEM.
 */
int bias_complete(struct profile *profile, const struct file_wish *wish);

#endif
