/* SPDX-License-Identifier: MIT */
/*
 * kept_registers.h - aarch64: registers that a function keeps for its caller, and addresses in
 * registers.
 */
#ifndef KEPT_REGISTERS_H
#define KEPT_REGISTERS_H

#include <stddef.h>

#define KEPT_REGISTERS "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28"

/* Takes the addresses of malloc and free, and spins while they stand in registers alone. */
static inline void hold_functions(void *(**out_take)(size_t), void (**out_give)(void *),
				  unsigned long turns)
{
	void *(*take)(size_t);
	void (*give)(void *);

	__asm__ volatile("adrp %0, :got:malloc\n\tldr %0, [%0, #:got_lo12:malloc]\n\t"
			 "adrp %1, :got:free\n\tldr %1, [%1, #:got_lo12:free]\n\t"
			 "0: subs %2, %2, #1\n\t"
			 "b.ne 0b"
			 : "=&r"(take), "=&r"(give), "+r"(turns)
			 :
			 : "cc");
	*out_take = take;
	*out_give = give;
}

#endif
