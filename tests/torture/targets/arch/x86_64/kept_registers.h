/* SPDX-License-Identifier: MIT */
/*
 * kept_registers.h - x86-64: registers that a function keeps for its caller, and addresses in
 * registers.
 */
#ifndef KEPT_REGISTERS_H
#define KEPT_REGISTERS_H

#include <stddef.h>

#define KEPT_REGISTERS "rbx", "r12", "r13", "r14", "r15"

/* Takes the addresses of malloc and free, and spins while they stand in registers alone. */
static inline void hold_functions(void *(**out_take)(size_t), void (**out_give)(void *),
				  unsigned long turns)
{
	void *(*take)(size_t);
	void (*give)(void *);

	__asm__ volatile("mov malloc@GOTPCREL(%%rip), %0\n\t"
			 "mov free@GOTPCREL(%%rip), %1\n\t"
			 "0: dec %2\n\t"
			 "jnz 0b"
			 : "=&r"(take), "=&r"(give), "+r"(turns));
	*out_take = take;
	*out_give = give;
}

#endif
