/* SPDX-License-Identifier: MIT */
/*
 * hi_page.h - the size of the pages of this machine's kernel, and so of every process on it: what
 * is mapped, protected, resident and listed in /proc/PID/pagemap as one. A constant where the CPU
 * has pages of one size.
 */
#ifndef HI_PAGE_H
#define HI_PAGE_H

#include <stdint.h>
#include <unistd.h>

#include "hi_wire.h"

static inline uint64_t hi_page_bytes(void)
{
	return HI_PAGE_BYTES == HI_PAGE_BYTES_MAX ? HI_PAGE_BYTES : (uint64_t)sysconf(_SC_PAGESIZE);
}

#endif
