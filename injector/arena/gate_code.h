/* SPDX-License-Identifier: MIT */
/* gate_code.h - code and words of the gate's entries, and the relays, as they are in the file. */
#ifndef HI_GATE_CODE_H
#define HI_GATE_CODE_H

#include "arena.h"

/* Drops the functions between whose entries and the gate no jump reaches. */
void gate_code_drop_far(const struct hi_control *control, const struct memory *memory,
			struct entries *entries);
/*
 * Writes code and words of every entry, disarmed, and the relays, to the file. They hold addresses,
 * so the base must be known, and the pages must not be mapped yet. Sets control->gate_count.
 */
must_check int gate_code_fill(const struct arena *arena, const struct arena_code *code);

#endif
