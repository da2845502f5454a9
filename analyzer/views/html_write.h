/* SPDX-License-Identifier: MIT */
/*
 * html_write.h - writes the HTML pages and their texts. It does not check `out` for write errors.
 */
#ifndef HI_HTML_WRITE_H
#define HI_HTML_WRITE_H

#include <stdio.h>

/*
 * Writes the page with these texts in place of the words @STYLE@, @DATA@ and @SCRIPT@. The page
 * contains these words once each and in this order.
 */
void html_write_page(const char *page, const char *style, const char *data, const char *script,
		     FILE *out);
/*
 * Writes a JSON string, cut after some hundred bytes. It contains no '<', '>' or '&', so it can be
 * part of a <script> element whatever the functions are named.
 */
void html_write_text(const char *text, FILE *out);

#endif
