/* SPDX-License-Identifier: MIT */
/* live_page.c - see live_page.h. */
#include "live_page.h"

#include <string.h>

#include "hi_analyzer.h"

#define STYLE "@STYLE@"
#define SCRIPT "@SCRIPT@"

/* live_sources.S */
extern const char hi_live_page[], hi_live_style[], hi_live_views[], hi_live_script[];

void live_page_write_style(FILE *out)
{
	hi_analyzer_page_style(out);
	fputs(hi_live_style, out);
}

void live_page_write_views(FILE *out)
{
	hi_analyzer_chart_script(out);
	fputs(hi_live_views, out);
}

void live_page_write_script(FILE *out)
{
	live_page_write_views(out);
	fputs(hi_live_script, out);
}

void live_page_write(FILE *out)
{
	const char *style = strstr(hi_live_page, STYLE), *script = strstr(hi_live_page, SCRIPT);

	fwrite(hi_live_page, 1, (size_t)(style - hi_live_page), out);
	live_page_write_style(out);
	style += strlen(STYLE);
	fwrite(style, 1, (size_t)(script - style), out);
	live_page_write_script(out);
	fputs(script + strlen(SCRIPT), out);
}
