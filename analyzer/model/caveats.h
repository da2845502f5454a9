/* SPDX-License-Identifier: MIT */
/*
 * caveats.h - why something may not be said of a profile, and what: the one place that all outputs ask.
 *
 * A caveat is a line in meta.caveat[], made once by judgement.c from what a session has recorded, and kept in files as it is, so that filters, sums and
 * comparisons of profiles have those of their parts. What follows from each kind is a table in caveats.c.
 */
#ifndef HI_CAVEATS_H
#define HI_CAVEATS_H

#include "profile.h"

#define CAVEATS_TEXT_MAX 1024u

/* "missed-frees", ...: what files call them. Returns HI_CAVEATS for what is no name. */
const char *caveats_name(enum hi_caveat kind);
enum hi_caveat caveats_kind(const char *name, size_t size);

/* Copies one line of text; the first one of a kind stays. 0 or -ENOMEM. */
int caveats_set(struct profile_meta *meta, enum hi_caveat kind, const char *text);
void caveats_clear(struct profile_meta *meta);
/* Those of another profile, that becomes part of this one. 0 or -ENOMEM. */
int caveats_take_over(struct profile_meta *to, const struct profile_meta *from);
/* 1 << enum hi_caveat for each there is. */
uint32_t caveats_bits(const struct profile_meta *meta);

/* No interval may be given of what is in use (is_inuse), or of what was allocated. */
bool caveats_withdraw(const struct profile_meta *meta, bool is_inuse);
/* Nothing may be said to grow, nor not to grow. Of bits: caveats_bits(), also of several profiles together. */
bool caveats_withhold_verdicts(uint32_t bits);
/* Figures of what is in use may be too high; what was seen is not all, so that they are a lower bound at best. */
bool caveats_too_high(uint32_t bits);
bool caveats_too_low(uint32_t bits);

#endif
