/* SPDX-License-Identifier: MIT */
/*
 * debuginfod.h - debug files, programs and sources from the servers that DEBUGINFOD_URLS names.
 * Without that variable, or without libdebuginfod.so.1, no server is asked.
 *
 * The library keeps what it has fetched in its own cache, which all of elfutils' clients share. It
 * is loaded only when it is needed, because it brings a whole HTTP client. All requests together
 * take at most a minute, or DEBUGINFOD_MAXTIME seconds. If a request fails otherwise than by "not
 * found", no server is asked again.
 */
#ifndef HI_DEBUGINFOD_H
#define HI_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

enum debuginfod_kind {
	DEBUGINFOD_DEBUG,   /* the debug file */
	DEBUGINFOD_PROGRAM, /* the file that was run, program or library */
};

/*
 * A descriptor of the file that belongs to a build-id, or -ENOENT. Not for the analyzer child of an
 * attach, which has no network. Single-threaded.
 */
int debuginfod_open(enum debuginfod_kind kind, const uint8_t *build_id, size_t size);
/* The same for a source file, by its absolute name in the debug information. */
int debuginfod_open_source(const uint8_t *build_id, size_t size, const char *file);

#endif
