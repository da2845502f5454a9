/* SPDX-License-Identifier: MIT */
/* html_write.h - what the HTML pages are written with. What out takes is not checked. */
#ifndef HI_HTML_WRITE_H
#define HI_HTML_WRITE_H

#include <stdio.h>

/* The page, with these texts in place of its words @STYLE@, @DATA@ and @SCRIPT@, which stand in it once each and in this order. */
void html_write_page(const char *page, const char *style, const char *data, const char *script, FILE *out);
/*
 * A JSON string, cut after some hundred bytes. There is no '<', '>' or '&' in it, so that it may stand in a <script> element whatever functions are called.
 */
void html_write_text(const char *text, FILE *out);

#endif
