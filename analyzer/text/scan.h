/* SPDX-License-Identifier: MIT */
/*
 * scan.h - takes numbers and characters off the front of a string. Each takes what it accepts, and
 * leaves the cursor alone otherwise.
 */
#ifndef HI_SCAN_H
#define HI_SCAN_H

#include <stdbool.h>
#include <stdint.h>

void skip_spaces(const char **cursor);
bool scan_char(const char **cursor, char wanted);
/* Base 10 or 16; no sign, no overflow. Hexadecimal numbers may begin with 0x. */
bool scan_number(const char **cursor, int base, uint64_t *out_number);

#endif
