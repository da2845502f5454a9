/* SPDX-License-Identifier: MIT */
/*
 * plain_text.h - names and messages of other processes, which may contain sequences that disturb a
 * terminal.
 */
#ifndef HI_PLAIN_TEXT_H
#define HI_PLAIN_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Copies as much as fits, NUL-terminated, with question marks for control characters. size is above
 * 0.
 */
void plain_text_copy(char *into, size_t size, const char *from);
/*
 * Writes a JSON string with its quotes. Names may be cut in the middle of a character, or be no
 * text at all: invalid bytes become U+FFFD.
 */
void plain_text_json(FILE *stream, const char *string);

#endif
