/* SPDX-License-Identifier: MIT */
/*
 * glibc_fast.h - freed chunks that look like chunks in use: those in the arenas' lists of small
 * freed ones (fastbins).
 */
#ifndef HI_GLIBC_FAST_H
#define HI_GLIBC_FAST_H

#include "glibc_arenas.h"

struct glibc_fast {
	remote_addr *chunk; /* by address */
	size_t count, room;
};

/*
 * -EPROTO: an arena is none any more; out_refusal says which. Or -ENOMEM, -ETIMEDOUT, or an error
 * of the memory. Close it in either case.
 */
must_check int glibc_fast_find(const struct heap_source *source, const struct glibc_arenas *arenas,
			       struct glibc_fast *out_fast, char out_refusal[HEAP_TEXT_MAX]);
void glibc_fast_close(struct glibc_fast *fast);

#endif
