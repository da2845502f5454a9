/* SPDX-License-Identifier: MIT */
/*
 * printable.h - makes a string from an untrusted file safe to print: one line, no control
 * characters, none that change the order of others, valid UTF-8.
 */
#ifndef HI_PRINTABLE_H
#define HI_PRINTABLE_H

/* Replaces each unsafe byte by '?', in place; the length stays. */
void printable(char *text);

#endif
