/* SPDX-License-Identifier: MIT */
/* glibc_version.h - the release of a C library, as near as its symbols tell: the newest of the versions that it defines (GLIBC_2.36). */
#ifndef HI_GLIBC_VERSION_H
#define HI_GLIBC_VERSION_H

#include <gelf.h>

/* 36 for 2.36; 0: it is not known. The file is hostile. */
int glibc_version(Elf *elf);

#endif
