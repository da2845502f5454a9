/* SPDX-License-Identifier: MIT */
/*
 * live_page.h - the page of a session that runs: page/live.html, with the style and the script of
 * page/, and parts of those of the page of reports. It has no data: they come as events
 * (live_event.h).
 */
#ifndef HI_SERVE_LIVE_PAGE_H
#define HI_SERVE_LIVE_PAGE_H

#include <stdio.h>

void live_page_write(FILE *out);
/* What is between <style> and </style>, and between <script> and </script>. */
void live_page_write_style(FILE *out);
void live_page_write_script(FILE *out);
/* What that script begins with: how the JSON of explain, census, leaks and owners looks. */
void live_page_write_views(FILE *out);

#endif
