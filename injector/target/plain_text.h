/* SPDX-License-Identifier: MIT */
/* plain_text.h - names and messages of other processes, which may have chosen them to upset a terminal. */
#ifndef HI_PLAIN_TEXT_H
#define HI_PLAIN_TEXT_H

#include <stddef.h>

/* As much as fits, terminated, with question marks for control characters. size is above 0. */
void plain_text_copy(char *into, size_t size, const char *from);

#endif
