/* SPDX-License-Identifier: MIT */
/* inspect_page.c - see inspect_page.h. */
#include "inspect_page.h"

#include <inttypes.h>
#include <string.h>

#include "live_page.h"

extern const char hi_live_inspect_page[], hi_live_inspect_script[]; /* live_sources.S */

/* Writes the page up to the word, and returns what stands behind it. */
static const char *write_until(const char *text, const char *word, FILE *out)
{
	const char *at = strstr(text, word);

	fwrite(text, 1, (size_t)(at - text), out);
	return at + strlen(word);
}

/* Names are of the process. In JSON this byte stands in strings alone, and ends no element there.
 */
static void write_json(const char *json, FILE *out)
{
	for (; *json; json++)
		if (*json == '<')
			fputs("\\u003c", out);
		else
			fputc(*json, out);
}

void inspect_page_write(const struct inspect_page *page, FILE *out)
{
	const char *rest = write_until(hi_live_inspect_page, "@STYLE@", out);

	live_page_write_style(out);
	rest = write_until(rest, "@DATA@", out);
	fprintf(out, "{\"command\":\"%s\",\"taken\":%" PRId64 ",\"answer\":", page->command,
		page->unix_seconds);
	write_json(page->json, out);
	fputs("}", out);
	rest = write_until(rest, "@SCRIPT@", out);
	live_page_write_views(out);
	fputs(hi_live_inspect_script, out);
	fputs(rest, out);
}
