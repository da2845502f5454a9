/* SPDX-License-Identifier: MIT */
/*
 * inspect_page.h - a page of its own with the answer of explain, census, leaks or owners in it:
 * page/inspect.html, with what the tabs of the live page draw with.
 */
#ifndef HI_INSPECT_PAGE_H
#define HI_INSPECT_PAGE_H

#include <stdint.h>
#include <stdio.h>

struct inspect_page {
	const char *command; /* explain, census, leaks or owners */
	const char *json;    /* that it prints with --json */
	int64_t unix_seconds;
};

void inspect_page_write(const struct inspect_page *page, FILE *out);

#endif
