/* SPDX-License-Identifier: MIT */
/*
 * seccomp_filter.h - would a thread's seccomp filters let the calls pass that we are to make in it?
 *
 * While we trace a thread its filters are suspended, and every call passes. But that ends with us: killed between placing a call and its execution, we leave
 * the thread to make that call under its filters, and where these answer by a signal the target dies with us. So the filters are read and run, here, for each
 * of the calls of a session, before the first is placed.
 */
#ifndef HI_SECCOMP_FILTER_H
#define HI_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "tracee.h"

/* What the filter answers to a call: SECCOMP_RET_*, with its data. A program that makes no sense kills. */
uint32_t seccomp_filter_run(const struct sock_filter *code, size_t count, const struct seccomp_data *call);

/* The thread is stopped. 0, -ECANCELED if a call of ours might kill it or hold it up should we die, or what reading the filters failed with. */
must_check int seccomp_filter_check(const struct tracee *tracee, remote_addr syscall_instruction, bool with_dlopen);

#endif
