/* SPDX-License-Identifier: MIT */
/*
 * escaped_fix_up.h - replaces copies of gate addresses (escaped.h) by the originals, in words and
 * in registers of stopped threads.
 *
 * Words are fixed up while all threads are stopped: a word that held a copy a microsecond ago may
 * be a return address by now, on a stack in use or in memory that was freed and allocated again.
 */
#ifndef HI_ESCAPED_FIX_UP_H
#define HI_ESCAPED_FIX_UP_H

#include "escaped.h"
#include "tracee.h"

/*
 * Registers of stopped threads. changed: held copies and now hold the originals. doubtful: copies
 * that cannot be fixed up.
 */
struct fixed_registers {
	size_t changed, doubtful;
};

struct fixed_up {
	size_t words;
	struct fixed_registers registers;
};

/*
 * Stops all threads and fixes up the listed words that still hold copies, and all registers. Adds
 * to *result. -EAGAIN: some thread did not stop; all threads run as before.
 */
must_check int escaped_fix_up(const struct escaped_target *target,
			      const struct escaped_pointers *copies, struct fixed_up *result);

/*
 * Fixes up the registers of one stopped thread, including vector registers. out_regs: the registers
 * as they are now. Adds to *fixed_up.
 */
must_check int escaped_fix_up_registers(const struct escaped_target *target,
					const struct tracee *tracee, struct arch_regs *out_regs,
					struct fixed_registers *fixed_up);

#endif
