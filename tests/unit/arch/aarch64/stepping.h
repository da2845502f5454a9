/* SPDX-License-Identifier: MIT */
/* stepping.h - aarch64: only who traces a program can have it stop after each instruction. */
#ifndef HI_STEPPING_H
#define HI_STEPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define CAN_STEP_ITSELF 0

static inline void set_stepping(bool is_on)
{
	(void)is_on;
}

static inline uintptr_t stepping_pc(const void *context)
{
	return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
}

static inline void stepping_end(void *context)
{
	(void)context;
}

#endif
