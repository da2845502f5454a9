/* SPDX-License-Identifier: MIT */
/*
 * heap_snapshot.h - the blocks of a process, what refers to them, and their classes, as a heap
 * snapshot of Chrome DevTools (.heapsnapshot), whose views compute what is retained on their own.
 *
 * Each node has seven numbers in one array, each edge three in another, and names are indices of a
 * third. Node 0 is the root. Places are children of the root that are not synthetic, as DevTools
 * counts distances from such. An edge in a block is an element, whose index is the offset of the
 * pointer in bytes.
 */
#ifndef HI_HEAP_SNAPSHOT_H
#define HI_HEAP_SNAPSHOT_H

#include <stdio.h>

#include "must_check.h"
#include "owner_name.h"

/* 0, -ENOMEM, or why not all was written. */
must_check int heap_snapshot_write(const struct owner_names *names, FILE *out);

#endif
