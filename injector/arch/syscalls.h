/* SPDX-License-Identifier: MIT */
/*
 * syscalls.h - what the files of this room know of system calls beside what arch.h says: what only
 * some CPUs have (own_calls.c of each), for syscalls.c, and what is common, for guard.c of each.
 */
#ifndef HI_SYSCALLS_H
#define HI_SYSCALLS_H

#include "arch.h"

/* The call that every CPU has in the place of an older one, or the number itself. */
long arch_new_call(long number);
/* arch_borrow_score() of a call that not every CPU has, or of which nothing special is known. */
int arch_own_borrow_score(long number);
bool arch_is_vfork(long number);

/*
 * The calls that a bare stop makes fail with EINTR (signal(7), "never restarted") and that can be
 * repeated without harm. close is not among them: by then its descriptor is closed.
 */
bool arch_is_repeatable(long number);

#endif
