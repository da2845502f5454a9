/* SPDX-License-Identifier: MIT */
/* weblist_code.h - the machine code of the functions that render_weblist.c shows. */
#ifndef HI_WEBLIST_CODE_H
#define HI_WEBLIST_CODE_H

#include "code_lines.h"
#include "code_text.h"
#include "render_options.h"

struct weblist_code {
	struct code_sums sums;
	struct code_lines lines;
	struct code_machine machine;
	char *notes; /* whole lines that say of which code there is nothing, and why; may be NULL */
};

/* wanted: by function. 0 or -ENOMEM; code that is not there is no error. */
int weblist_code_open(const struct profile *profile, const struct functions *functions,
		      const bool *wanted, const struct render_options *options,
		      struct weblist_code *out_code);
void weblist_code_close(struct weblist_code *code);

#endif
