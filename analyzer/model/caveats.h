/* SPDX-License-Identifier: MIT */
/*
 * caveats.h - reasons why outputs must not state something about a profile, and what each reason
 * withholds. All outputs ask here.
 *
 * A caveat is one line of text in meta.caveat[]. judgement.c makes it once, from what a session has
 * recorded. Files keep it as it is, so that filtered profiles, sums and comparisons have the
 * caveats of their parts. A table in caveats.c says what follows from each kind.
 */
#ifndef HI_CAVEATS_H
#define HI_CAVEATS_H

#include "profile.h"

#define CAVEATS_TEXT_MAX 1024u

/*
 * The name of a kind in files ("missed-frees", ...), and the kind of a name. caveats_kind() returns
 * HI_CAVEATS for an unknown name.
 */
const char *caveats_name(enum hi_caveat kind);
enum hi_caveat caveats_kind(const char *name, size_t size);
/* The word before its text: "Warning", or "Note" if nothing follows from it. */
const char *caveats_word(enum hi_caveat kind);

/*
 * Sets the caveat of a kind. Copies the text, one line. A text that the kind has already stays. 0
 * or -ENOMEM.
 */
int caveats_set(struct profile_meta *meta, enum hi_caveat kind, const char *text);
void caveats_clear(struct profile_meta *meta);
/* Copies the caveats of a profile that becomes part of this one. 0 or -ENOMEM. */
int caveats_take_over(struct profile_meta *to, const struct profile_meta *from);
/* The bit 1 << enum hi_caveat for each caveat that is set. */
uint32_t caveats_bits(const struct profile_meta *meta);

/*
 * True: no interval may be given for the figures of what is in use (is_inuse) or was allocated
 * (else).
 */
bool caveats_withdraw(const struct profile_meta *meta, bool is_inuse);
/*
 * True: outputs must say neither that something grows nor that it does not. bits: of
 * caveats_bits(); those of several profiles may be combined by OR.
 */
bool caveats_withhold_verdicts(uint32_t bits);
/*
 * too_high: the figures of what is in use may be too high. too_low: not all allocations were seen,
 * so the figures are a lower bound at best.
 */
bool caveats_too_high(uint32_t bits);
bool caveats_too_low(uint32_t bits);

#endif
