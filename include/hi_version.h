/* SPDX-License-Identifier: MIT */
/* hi_version.h - the version of the heapinject command, its files' headers and its man page. */
#ifndef HI_VERSION_H
#define HI_VERSION_H

#define HI_VERSION "0.2.0"

#endif
