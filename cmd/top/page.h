/* SPDX-License-Identifier: MIT */
/* page.h - text over the whole screen that can be scrolled: help, a stack, a receipt. */
#ifndef HI_TOP_PAGE_H
#define HI_TOP_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct page {
	char *title, *text; /* text: lines; longer ones are broken. NULL = there is no page */
	size_t first;       /* line at the top */
};

/* Shows copies of these. What does not fit into memory is not shown. */
void page_open(struct page *page, const char *title, const char *text);
void page_close(struct page *page);
void page_draw(struct page *page);
/* False: the key closes the page. */
bool page_key(struct page *page, int key);
/*
 * Writes text into `height` lines from `row` on, broken between words. Returns how many lines it
 * took.
 */
int page_wrap(const char *text, int row, int height);
/* How many lines the screen needs for the text. */
size_t page_lines(const char *text);

#endif
