/* SPDX-License-Identifier: MIT */
/* live_event.c - see live_event.h. */
#include "live_event.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line break would end the message; in JSON that a job has written it is a blank, or nothing. */
static void put_json(const char *json, size_t size, FILE *out)
{
	for (size_t i = 0; i < size; i++)
		fputc((unsigned char)json[i] < ' ' ? ' ' : json[i], out);
}

static void put_text(const char *text, size_t size, FILE *out)
{
	fputc('"', out);
	for (size_t i = 0; i < size; i++) {
		const unsigned char byte = (unsigned char)text[i];

		if (byte < ' ' || byte == '"' || byte == '\\' || byte == 0x7f)
			fprintf(out, "\\u%04x", byte);
		else
			fputc(byte, out);
	}
	fputc('"', out);
}

static void put_profiles(const struct kept_profiles *kept, FILE *out)
{
	fputs("\"profiles\":[", out);
	for (size_t i = 0; i < kept->count; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", kept->profile[i].time);
	fputs("],", out);
}

static void put_news(const struct live_news *news, FILE *out)
{
	fprintf(out, "data: {\"time\":%" PRIu64 ",\"every\":%" PRIu64 ",", news->time,
		news->every_s);
	put_profiles(news->kept, out);
	fputs("\"look\":", out);
	if (news->look && news->look_size)
		put_json(news->look, news->look_size, out);
	else
		fputs("null", out);
	fputs(",\"why\":", out);
	put_text(news->why ? news->why : "", news->why ? news->why_size : 0, out);
	fprintf(out, ",\"isMissing\":%s,\"maySteer\":%s}\n\n", news->is_missing ? "true" : "false",
		news->may_steer ? "true" : "false");
}

struct live_event *live_event_make(const struct live_news *news)
{
	struct live_event *event = calloc(1, sizeof(*event));
	FILE *out = event ? open_memstream(&event->text, &event->size) : NULL;

	if (out) {
		put_news(news, out);
		if (!fclose(out)) {
			event->holders = 1;
			return event;
		}
		free(event->text);
	}
	free(event);
	return NULL;
}

struct live_event *live_event_hold(struct live_event *event)
{
	if (event)
		event->holders++;
	return event;
}

void live_event_let_go(struct live_event *event)
{
	if (!event || --event->holders)
		return;
	free(event->text);
	free(event);
}
