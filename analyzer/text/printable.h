/* SPDX-License-Identifier: MIT */
/*
 * printable.h - makes a string from a stranger's file safe to print: one line, no control characters, valid UTF-8.
 */
#ifndef HI_PRINTABLE_H
#define HI_PRINTABLE_H

/* Replaces in place, byte by byte, with '?'; the length stays. */
void printable(char *text);

#endif
