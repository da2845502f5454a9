/* SPDX-License-Identifier: MIT */
/* stepping.h - x86-64: a program that gets SIGTRAP after each of its own instructions. */
#ifndef HI_STEPPING_H
#define HI_STEPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define CAN_STEP_ITSELF 1
#define TRAP_FLAG 0x100

/* Beyond the red zone. */
static inline void set_stepping(bool is_on)
{
	const uint64_t flag = is_on ? TRAP_FLAG : 0;

	__asm__ volatile("sub $128, %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\torq %0, "
			 "(%%rsp)\n\tpopfq\n\tadd $128, %%rsp"
			 :
			 : "r"(flag)
			 : "memory", "cc");
}

/* For the handler: where the program is, and that it is to go on without further signals. */
static inline uintptr_t stepping_pc(const void *context)
{
	return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

static inline void stepping_end(void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

#endif
