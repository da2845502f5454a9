/* SPDX-License-Identifier: MIT */
/* serve_setup.h - what is served, where, and who may ask, once that is settled. */
#ifndef HI_SERVE_SETUP_H
#define HI_SERVE_SETUP_H

#include "serve_options.h"
#include "site.h"
#include "token.h"

struct serve_setup {
	const struct serve_options *options;
	struct serve_site site;
	struct serve_token token;
};

#endif
