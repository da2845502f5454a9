/* SPDX-License-Identifier: MIT */
/*
 * elf_debug.h - the symbols of stripped objects: from a separate debug file, by build-id
 * (/usr/lib/debug/.build-id, in the target's root and in ours; what debuginfod-find has fetched for
 * the caller) or by .gnu_debuglink, else from mini debug information (.gnu_debugdata).
 *
 * A wrong symbol would have the wrong address hooked, which is worse than none. So a debug file
 * counts only if it has the build-id of the mapped file or, if that has none, the CRC that the file
 * names; and only if it puts the code where the mapped file has it. No server is asked: that may
 * take minutes, and a session should not begin differently with the network.
 */
#ifndef HI_ELF_DEBUG_H
#define HI_ELF_DEBUG_H

#include "elf_images.h"

/*
 * Fills in `debug` of each image that has no symbol table, the main program first. Images that were
 * searched before are left alone. Reads and checksums some files, so not while a thread of the
 * target is stopped. Never fails: what is not found is not there.
 */
void elf_debug_find(struct elf_images *images, pid_t pid, pid_t tid);

/* Does the file, or what was found for it, have the symbols of functions that are not exported? */
bool elf_debug_has_symbols(const struct elf_image *image);

#endif
