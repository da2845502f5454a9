/* SPDX-License-Identifier: MIT */
/*
 * glibc_version.h - the release of a C library, as far as its symbols show it: the newest version
 * that it defines (GLIBC_2.36).
 */
#ifndef HI_GLIBC_VERSION_H
#define HI_GLIBC_VERSION_H

#include <gelf.h>

/* Returns 36 for 2.36; 0 if not known. The file may be hostile. */
int glibc_version(Elf *elf);

#endif
