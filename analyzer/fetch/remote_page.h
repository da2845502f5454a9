/* SPDX-License-Identifier: MIT */
/* remote_page.h - what a server answers, as a file in memory that has no name. */
#ifndef HI_REMOTE_PAGE_H
#define HI_REMOTE_PAGE_H

#include "http.h"
#include "input.h"

/* Fetches as http_fetch() does. The caller closes *out_fd, which is at its beginning. */
int remote_page_fetch(const struct http_request *request, int *out_fd,
		      char complaint[HTTP_COMPLAINT_MAX]);
/* The same, to be read at once. */
int remote_page_open(const struct http_request *request, struct input *out_page,
		     char complaint[HTTP_COMPLAINT_MAX]);
void remote_page_close(struct input *page);

#endif
