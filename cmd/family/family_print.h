/* SPDX-License-Identifier: MIT */
/* family_print.h - what the sessions of a family come to. */
#ifndef HI_FAMILY_PRINT_H
#define HI_FAMILY_PRINT_H

#include "member.h"

/*
 * Prints to standard output a table with a line for each process and their sum, and the report of
 * all profiles added up; or, as_json, one JSON object. Returns the exit code of the family.
 */
int family_print(struct members *members, bool as_json);

#endif
