/* SPDX-License-Identifier: MIT */
/* sharer_tls.h - x86-64: where a thread pointer of glibc points, at the end of a thread's stack. */
#ifndef SHARER_TLS_H
#define SHARER_TLS_H

#include <string.h>

#define SHARER_TLS_ABOVE 4096u       /* what libc knows of the thread, */
#define SHARER_TLS_BELOW (32u << 10) /* and its variables */

/* tcbhead_t of glibc: what is not the dynamic linker's is copied from our own. */
static inline void sharer_fill_tls(char *tls)
{
	enum { SELF = 0x10, STACK_GUARD = 0x28, POINTER_GUARD = 0x30 };
	const char *own;

	__asm__("mov %%fs:0, %0" : "=r"(own));
	memcpy(tls, &tls, sizeof(tls));
	memcpy(tls + SELF, &tls, sizeof(tls));
	memcpy(tls + STACK_GUARD, own + STACK_GUARD, 8);
	memcpy(tls + POINTER_GUARD, own + POINTER_GUARD, 8);
}

#endif
