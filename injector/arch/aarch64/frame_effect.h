/* SPDX-License-Identifier: MIT */
/* frame_effect.h - aarch64: what one instruction does to the frame of its function. */
#ifndef HI_FRAME_EFFECT_H
#define HI_FRAME_EFFECT_H

#include "arch.h"

/* Sets effect, sp_change, bp_word and link_word. For instructions that are no branches. */
void frame_effect_of(uint32_t word, struct arch_instruction *out);

#endif
