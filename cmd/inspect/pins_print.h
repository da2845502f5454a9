/* SPDX-License-Identifier: MIT */
/*
 * pins_print.h - which blocks pin free memory, as a table, and as JSON.
 */
#ifndef HI_PINS_PRINT_H
#define HI_PINS_PRINT_H

#include "census_print.h"
#include "pins.h"

/* pins: of the groups of counted->now. There is no count before it. */
void pins_print(const struct counted *counted, const struct pins *pins, FILE *out);
/* One object on one line; its schema is in heapinject(1). */
void pins_print_json(const struct counted *counted, const struct pins *pins, FILE *out);

#endif
