/* SPDX-License-Identifier: MIT */
/*
 * printable.h - makes a string from an untrusted file safe to print: one line, no control
 * characters, none that change the order of others, valid UTF-8.
 */
#ifndef HI_PRINTABLE_H
#define HI_PRINTABLE_H

#include <stddef.h>

/* Replaces each unsafe byte by '?', in place; the length stays. */
void printable(char *text);
/*
 * A printable copy of at most size bytes in which control characters are escapes like \n and \x01,
 * so that names which differ in them do not become one. The caller frees it; NULL = out of memory.
 */
char *printable_escaped(const char *text, size_t size);

#endif
