/* SPDX-License-Identifier: MIT */
/*
 * glibc_mapped.h - blocks of glibc's malloc that have a mapping of their own, as large ones do.
 *
 * malloc counts them, and has no list. Such a mapping begins with a head of a kind of its own, and
 * the walk ends when as many were found as are counted.
 */
#ifndef HI_GLIBC_MAPPED_H
#define HI_GLIBC_MAPPED_H

#include "glibc_arenas.h"

/* 0, or what the visitor or the memory returns. */
must_check int glibc_mapped_walk(const struct heap_source *source,
				 const struct glibc_arenas *arenas,
				 const struct heap_visitor *visitor);

#endif
