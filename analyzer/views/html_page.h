/* SPDX-License-Identifier: MIT */
/*
 * html_page.h - the sources in analyzer/views/html/, embedded in the program. Each text ends with a
 * NUL, at its _end.
 *
 * page contains the words @STYLE@, @DATA@ and @SCRIPT@, once each and in this order.
 * The other texts replace them.
 */
#ifndef HI_HTML_PAGE_H
#define HI_HTML_PAGE_H

extern const char hi_html_page[], hi_html_page_end[];
extern const char hi_html_style[], hi_html_style_end[];
extern const char hi_html_script[], hi_html_script_end[];
extern const char hi_html_chart_script[], hi_html_chart_script_end[]; /* a part of script */
extern const char hi_html_svg_style[], hi_html_svg_style_end[];
extern const char hi_html_svg_script[], hi_html_svg_script_end[];
extern const char hi_html_graph_script[], hi_html_graph_script_end[];
extern const char hi_html_weblist[], hi_html_weblist_end[]; /* a page; @BODY@ is to be replaced */

#endif
