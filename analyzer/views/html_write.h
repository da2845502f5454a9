/* SPDX-License-Identifier: MIT */
/*
 * html_write.h - writes the HTML pages and their texts. It does not check `out` for write errors.
 */
#ifndef HI_HTML_WRITE_H
#define HI_HTML_WRITE_H

#include <stdio.h>

/*
 * Writes the page of html_page.h with these data. Its style and its script are written without
 * comments, indentation and other blanks that mean nothing.
 */
void html_write_page(const char *data, FILE *out);
/*
 * Writes a JSON string, cut after some hundred bytes. It contains no '<', '>' or '&', so it can be
 * part of a <script> element whatever the functions are named.
 */
void html_write_text(const char *text, FILE *out);
/* "key":"text",\n, with the text made printable. NULL = "". */
void html_write_printable(const char *key, const char *text, FILE *out);
/* "key":value, and null for what is not finite. */
void html_write_number(const char *key, double value, FILE *out);
/* An array of the lines that are not empty. NULL = none. */
void html_write_lines(const char *text, FILE *out);
/* Text of an element or of an attribute in quotes: what has a meaning in HTML is escaped. */
void html_write_markup(const char *text, FILE *out);
/* JSON of another writer, with '<', '>' and '&', which only strings have, escaped. */
void html_write_json(const char *json, FILE *out);

#endif
