/* SPDX-License-Identifier: MIT */
/* html_write.c - see html_write.h. */
#include "html_write.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hi_analyzer.h"
#include "html_page.h"
#include "printable.h"

#define TEXT_MAX_WRITTEN 600u /* bytes of one string */

/* True if a blank between these two means nothing in a script or a style sheet. */
static bool is_needless(char before, char after)
{
	return (before && strchr(",;:{=?&|", before)) || (after && strchr("={}?&|", after));
}

/*
 * Writes a line without comments, and without blanks that mean nothing. Quoted texts stay as they
 * are; they end in the line in which they begin.
 */
static void write_line(const char *line, size_t length, FILE *out)
{
	char quote = 0, before = 0;

	if (length >= 2 && line[0] == '/' && (line[1] == '/' || line[1] == '*'))
		return;
	for (size_t i = 0; i < length; i++) {
		const char at = line[i], after = i + 1 < length ? line[i + 1] : 0;

		if (!quote && at == ' ' && after == '/' && i + 2 < length && line[i + 2] == '/')
			break;
		if (!quote && at == ' ' && is_needless(before, after))
			continue;
		fputc(at, out);
		if (quote && at == '\\' && after)
			fputc(line[++i], out);
		else if (!quote && (at == '"' || at == '\'' || at == '`'))
			quote = at;
		else if (at == quote)
			quote = 0;
		before = at;
	}
	fputc('\n', out);
}

/* The sources are for people to read; a page that is sent by mail is not. */
static void write_squeezed(const char *text, FILE *out)
{
	while (*text) {
		size_t length;

		text += strspn(text, "\t\n");
		length = strcspn(text, "\n");
		if (length)
			write_line(text, length, out);
		text += length;
	}
}

void html_write_page(const char *data, FILE *out)
{
	const char *style = strstr(hi_html_page, "@STYLE@"),
		   *middle = strstr(hi_html_page, "@DATA@"),
		   *script = strstr(hi_html_page, "@SCRIPT@");

	fwrite(hi_html_page, 1, (size_t)(style - hi_html_page), out);
	write_squeezed(hi_html_style, out);
	style += strlen("@STYLE@");
	fwrite(style, 1, (size_t)(middle - style), out);
	fputs(data, out);
	middle += strlen("@DATA@");
	fwrite(middle, 1, (size_t)(script - middle), out);
	write_squeezed(hi_html_script, out);
	fputs(script + strlen("@SCRIPT@"), out);
}

/* Writes what stands in the place of the word, with what is around it between the tags. */
static void write_element(const char *word, const char *text, FILE *out)
{
	const char *at = strstr(hi_html_page, word), *begin = at;

	while (begin[-1] != '>')
		begin--;
	fwrite(begin, 1, (size_t)(at - begin), out);
	write_squeezed(text, out);
	at += strlen(word);
	fwrite(at, 1, strcspn(at, "<"), out);
}

void hi_analyzer_page_style(FILE *out)
{
	write_element("@STYLE@", hi_html_style, out);
}

void hi_analyzer_page_script(FILE *out)
{
	write_element("@SCRIPT@", hi_html_script, out);
}

void hi_analyzer_chart_script(FILE *out)
{
	write_squeezed(hi_html_chart_script, out);
}

void html_write_text(const char *text, FILE *out)
{
	const unsigned char *byte = (const unsigned char *)text;
	size_t written = 0;

	fputc('"', out);
	for (; *byte && (written < TEXT_MAX_WRITTEN || (*byte & 0xc0) == 0x80); byte++, written++) {
		if (*byte < 0x20 || *byte == '"' || *byte == '\\' || *byte == '<' || *byte == '>' ||
		    *byte == '&')
			fprintf(out, "\\u%04x", *byte);
		else
			fputc(*byte, out);
	}
	fprintf(out, "%s\"", *byte ? "\u2026" : "");
}

void html_write_printable(const char *key, const char *text, FILE *out)
{
	char *clean = strdup(text ? text : "");

	if (clean)
		printable(clean);
	fprintf(out, "\"%s\":", key);
	html_write_text(clean ? clean : "", out);
	fputs(",\n", out);
	free(clean);
}

void html_write_number(const char *key, double value, FILE *out)
{
	if (isfinite(value))
		fprintf(out, "\"%s\":%.6g,", key, value);
	else
		fprintf(out, "\"%s\":null,", key);
}

void html_write_lines(const char *text, FILE *out)
{
	const char *before = "";

	fputc('[', out);
	for (const char *line = text; line && *line; line += strspn(line, "\n")) {
		const size_t length = strcspn(line, "\n");
		char *copy = strndup(line, length);

		fputs(before, out);
		html_write_text(copy ? copy : "", out);
		free(copy);
		before = ",";
		line += length;
	}
	fputc(']', out);
}

void html_write_json(const char *json, FILE *out)
{
	for (; *json; json++) {
		if (*json == '<' || *json == '>' || *json == '&')
			fprintf(out, "\\u%04x", (unsigned char)*json);
		else
			fputc(*json, out);
	}
}

void html_write_markup(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr("<>&\"'", *text))
			fprintf(out, "&#%d;", *text);
		else
			fputc(*text, out);
	}
}
