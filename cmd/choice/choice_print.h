/* SPDX-License-Identifier: MIT */
/* choice_print.h - processes that were found, for a user who has to choose one. */
#ifndef HI_CHOICE_PRINT_H
#define HI_CHOICE_PRINT_H

#include <stdio.h>

#include "processes_found.h"

/* A line for each: pid, age, resident memory, command line. */
void choice_print(const struct processes_found *found, FILE *out);

#endif
