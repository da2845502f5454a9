/* SPDX-License-Identifier: MIT */
/* hotspot_texts.h - names of kinds of code: strings of libjvm, which do not change. */
#ifndef HI_HOTSPOT_TEXTS_H
#define HI_HOTSPOT_TEXTS_H

#include "memory.h"
#include "must_check.h"

#define HOTSPOT_TEXT_MAX 64u

struct hotspot_texts {
	struct hotspot_text {
		remote_addr at;
		char text[HOTSPOT_TEXT_MAX];
	} * text;
	size_t count;
	size_t last; /* found last */
};

/*
 * Sets texts->last to the text at this address. -ENOBUFS: there are too many; -ENOMEM; or the error
 * of a read.
 */
must_check int hotspot_text_find(struct hotspot_texts *texts, const struct memory *memory,
				 remote_addr at);
void hotspot_texts_close(struct hotspot_texts *texts);

#endif
