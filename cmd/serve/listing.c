/* SPDX-License-Identifier: MIT */
/* listing.c - see listing.h. */
#include "listing.h"

#include <inttypes.h>

#include "hi_exit.h"
#include "hi_units.h"
#include "session_list.h"
#include "status_print.h"

struct writing {
	FILE *out;
	size_t count;
};

static void write_text(void *context, const struct status_fields *fields)
{
	struct writing *writing = context;

	if (writing->count++)
		fputc('\n', writing->out);
	status_print_text(fields, writing->out);
	fprintf(writing->out,
		"  pages      /pid/%" PRIu64 "/ /pid/%" PRIu64 "/profiles /pid/%" PRIu64
		"/debug/pprof/heap /pid/%" PRIu64 "/pprof/heap\n",
		fields->pid, fields->pid, fields->pid, fields->pid);
}

static void put_markup(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '<' || *text == '>' || *text == '&' || *text == '"' || *text == '\'')
			fprintf(out, "&#%d;", *text);
		else
			fputc(*text, out);
	}
}

static void write_row(void *context, const struct status_fields *fields)
{
	static const char *const pages[] = {"report", "text", "debug/pprof/heap",
					    "debug/pprof/allocs", "pprof/heap"};
	struct writing *writing = context;
	char inuse[HI_UNITS_TEXT_MAX], slope[HI_UNITS_TEXT_MAX], elapsed[HI_UNITS_TEXT_MAX];
	FILE *out = writing->out;

	writing->count++;
	fprintf(out, "<tr><td><a href=\"/pid/%" PRIu64 "/\">%" PRIu64 "</a><td>", fields->pid,
		fields->pid);
	put_markup(fields->program, out);
	fprintf(out, "<td>%s<td>%s",
		hi_format_duration(fields->elapsed_ns / 1000000000u, elapsed, sizeof(elapsed)),
		hi_format_bytes((double)fields->inuse_bytes, inuse, sizeof(inuse)));
	if (fields->grows)
		fprintf(out, "<td>grows by %s/s",
			hi_format_bytes((double)fields->slope, slope, sizeof(slope)));
	else
		fputs(fields->paused ? "<td>paused" : "<td>nothing grows for certain so far", out);
	fputs("<td>", out);
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
		fprintf(out, "<a href=\"/pid/%" PRIu64 "/%s\">%s</a> ", fields->pid, pages[i],
			pages[i]);
	fputs("\n", out);
}

static void visit(const struct serve_options *options, session_visitor *visitor, bool is_text,
		  struct writing *writing)
{
	if (!options->pid_count)
		session_list(visitor, writing);
	for (size_t i = 0; i < options->pid_count; i++) {
		const int pid = (int)options->pid[i];

		if (session_list_one(options->pid[i], visitor, writing) == HI_EXIT_OK)
			continue;
		writing->count++;
		fprintf(writing->out,
			is_text ? "%d: no session is attached to it now\n"
				: "<tr><td>%d<td colspan=\"5\">no session is attached to it now\n",
			pid);
	}
}

void serve_listing_write(const struct serve_options *options, bool is_text, FILE *out)
{
	static const char none[] = "No session that you may ask is running.\n";
	struct writing writing = {.out = out};

	if (is_text) {
		visit(options, write_text, true, &writing);
		if (!writing.count)
			fputs(none, out);
		return;
	}
	fputs("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<link rel=\"icon\" href=\"data:,\">\n"
	      "<title>heapinject: sessions</title>\n<h1>Sessions</h1>\n"
	      "<table><thead><tr><th>Process<th>Program<th>For<th>In use<th>Verdict<th>Profiles"
	      "<tbody>\n",
	      out);
	visit(options, write_row, false, &writing);
	fprintf(out, "</table>\n%s%s", writing.count ? "" : "<p>", writing.count ? "" : none);
	fputs("<p><a href=\"/metrics\">Metrics for Prometheus</a>\n", out);
}
