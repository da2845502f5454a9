/* SPDX-License-Identifier: MIT */
/* cli_page.h - the file of `explain --html FILE`, and of census, leaks and owners. */
#ifndef HI_CLI_PAGE_H
#define HI_CLI_PAGE_H

#include <stdio.h>

struct cli_page {
	const char *path; /* NULL: none is wanted */
	int fd;
};

/* Prints the object of --json. */
typedef void cli_page_json(const void *context, FILE *out);

/* While there are rights to. HI_EXIT_OK, or HI_EXIT_FAILED once the error is printed. */
int cli_page_create(struct cli_page *page);
/* Needs none. Closes the file. As cli_page_create. */
int cli_page_write(const struct cli_page *page, const char *command, cli_page_json *print_json,
		   const void *context);

#endif
