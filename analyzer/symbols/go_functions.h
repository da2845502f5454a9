/* SPDX-License-Identifier: MIT */
/* go_functions.h - names of Go's functions by address, of a program without a symbol table. */
#ifndef HI_GO_FUNCTIONS_H
#define HI_GO_FUNCTIONS_H

#include "hi_go_table.h"

/*
 * The function that covers an address of the file, and the addresses that it takes up; NULL if none
 * does. A table of zeros has none. The name lives as long as the table.
 */
const char *go_functions_find(const struct hi_go_table *table, uint64_t address,
			      uint64_t *out_begin, uint64_t *out_end);

#endif
