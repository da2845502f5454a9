/* SPDX-License-Identifier: MIT */
/* family_say.h - what is said while the sessions of a family go on. */
#ifndef HI_FAMILY_SAY_H
#define HI_FAMILY_SAY_H

#include "family_state.h"

/* What sessions have said since, as far as it matters to who waits for all. */
void family_pass_on(struct family *family);
void family_show_progress(struct family *family);

#endif
