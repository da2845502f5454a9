/* SPDX-License-Identifier: MIT */
/* sharer_tls.h - aarch64: where a thread pointer of glibc points, at the end of a thread's stack.
 */
#ifndef SHARER_TLS_H
#define SHARER_TLS_H

#define SHARER_TLS_ABOVE (32u << 10) /* a thread's variables, */
#define SHARER_TLS_BELOW 4096u       /* and what libc knows of it */

/* Its tcbhead_t has nothing but what is the dynamic linker's. */
static inline void sharer_fill_tls(char *tls)
{
	(void)tls;
}

#endif
