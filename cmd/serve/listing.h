/* SPDX-License-Identifier: MIT */
/* listing.h - the list of sessions, as a page or as text. */
#ifndef HI_SERVE_LISTING_H
#define HI_SERVE_LISTING_H

#include <stdbool.h>
#include <stdio.h>

#include "serve_options.h"

/* Asks the sessions. */
void serve_listing_write(const struct serve_options *options, bool is_text, FILE *out);

#endif
