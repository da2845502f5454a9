/* SPDX-License-Identifier: MIT */
/*
 * sandbox_filter.h - the system calls that the analyzer child may make, and those that a process
 * which speaks to servers may not. Its .c is the only file that uses libseccomp.
 */
#ifndef HI_SANDBOX_FILTER_H
#define HI_SANDBOX_FILTER_H

#include "memory.h"

/* A sanitizer's runtime opens /proc, maps terabytes, forks: such builds have no filter. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define SANDBOX_IS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOX_IS_SANITIZED 1
#endif
#ifndef SANDBOX_IS_SANITIZED
#define SANDBOX_IS_SANITIZED 0
#endif

/*
 * Negative errno: the kernel has no filters, or this is a sanitized build; nothing has changed
 * then.
 */
must_check int sandbox_filter(int ask_fd);
/*
 * The same for a process that speaks to servers: it executes nothing, and neither signals, traces
 * nor reads another process; nor does it offer a service.
 */
must_check int sandbox_filter_network(void);

#endif
