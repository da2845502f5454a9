/* SPDX-License-Identifier: MIT */
/*
 * group_name.h - how tables name a group of a census, and what they do not count.
 */
#ifndef HI_GROUP_NAME_H
#define HI_GROUP_NAME_H

#include <stdio.h>

#include "census.h"
#include "used_blocks.h"

/* type: readable, by number. show_data: with text, how one of its strings begins. */
void group_name_print(const struct census_group *group, char *const *type, bool show_data,
		      FILE *out);
/* The members kind, class, size, and text with show_data, of a JSON object that has begun. */
void group_name_print_json(const struct census_group *group, char *const *type, bool show_data,
			   FILE *out);
/* A line for each reason why blocks are not among those that were looked at. */
void group_notes_print(const struct used_blocks *blocks, FILE *out);
/* The members unsure_bytes, partial and allocators, after a comma. */
void group_notes_print_json(const struct used_blocks *blocks, FILE *out);

#endif
