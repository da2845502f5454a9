/* SPDX-License-Identifier: MIT */
/*
 * debuginfod.h - debug files, programs and sources from the servers that DEBUGINFOD_URLS names. Without that variable, or without libdebuginfod.so.1, nobody is
 * asked.
 *
 * The library keeps what it has fetched in a cache of its own and serves all of elfutils' clients from there. It is loaded when it is wanted, as it brings a
 * whole HTTP client. All requests together take a minute at most (DEBUGINFOD_MAXTIME: so many seconds); a server that does not answer is asked once.
 */
#ifndef HI_DEBUGINFOD_H
#define HI_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

enum debuginfod_kind {
	DEBUGINFOD_DEBUG,   /* the debug file */
	DEBUGINFOD_PROGRAM, /* what was run, program or library */
};

/* A descriptor on what belongs to a build-id, or -ENOENT. Not for the child of an attach, which has no network. Single-threaded. */
int debuginfod_open(enum debuginfod_kind kind, const uint8_t *build_id, size_t size);
/* The same for a source file, by its absolute name in the debug information. */
int debuginfod_open_source(const uint8_t *build_id, size_t size, const char *file);

#endif
