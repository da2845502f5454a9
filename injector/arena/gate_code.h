/* SPDX-License-Identifier: MIT */
/* gate_code.h - code and words of the gate's entries, and the near pages, as they are in the file.
 */
#ifndef HI_GATE_CODE_H
#define HI_GATE_CODE_H

#include "arena.h"

/*
 * Writes code and words of every entry, disarmed, and the near pages, to the file. They hold
 * addresses, so the base must be known, and the pages must not be mapped yet. Sets
 * control->gate_count.
 */
must_check int gate_code_fill(const struct arena *arena, const struct arena_code *code);

#endif
