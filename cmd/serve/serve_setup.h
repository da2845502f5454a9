/* SPDX-License-Identifier: MIT */
/* serve_setup.h - what is served, where, and who may ask, once that is settled. */
#ifndef HI_SERVE_SETUP_H
#define HI_SERVE_SETUP_H

#include <sys/types.h>

#include "serve_options.h"
#include "site.h"
#include "token.h"

struct serve_setup {
	const struct serve_options *options;
	struct serve_site site;
	struct serve_token token; /* if it has none, those below may ask, and root */
	uid_t own_user, caller;   /* who serve runs as, and who started it, which sudo changes */
};

#endif
