/* SPDX-License-Identifier: MIT */
/* trial_ops.h - which functions are made again by which of the standard ones. */
#ifndef HI_TRIAL_OPS_H
#define HI_TRIAL_OPS_H

#include <stdint.h>

#include "hi_trial.h"

/* function: enum hi_function, or any other number. MALLOC, CALLOC, ALIGNED or REALLOC. */
enum hi_trial_op trial_ops_of(uint16_t function);
/*
 * The alignment that a block was asked for with, as log2, is not in a stream. It is no more than
 * that of its address, and is taken to be no more than a page and than the block is large; that of
 * valloc is a page.
 */
uint8_t trial_ops_alignment(uint16_t function, uint64_t address, uint64_t bytes);

#endif
