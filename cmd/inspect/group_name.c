/* SPDX-License-Identifier: MIT */
/* group_name.c - see group_name.h. */
#include "group_name.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "hi_units.h"
#include "plain_text.h"
#include "stopped_print.h"

#define NAME_WIDTH 60

void group_name_print(const struct census_group *group, char *const *type, bool show_data,
		      FILE *out)
{
	char size[HI_UNITS_TEXT_MAX];

	if (group->kind == CONTENT_OBJECT) {
		const char *name = type[group->type];

		fprintf(out, "%.*s%s", NAME_WIDTH, name, strlen(name) > NAME_WIDTH ? "..." : "");
		return;
	}
	fprintf(out, "%s of %s", content_name(group->kind),
		group->size ? hi_format_bytes((double)group->size, size, sizeof(size))
			    : "other sizes");
	if (group->kind != CONTENT_TEXT || !show_data)
		return;
	fputs(": ", out);
	for (size_t i = 0; i < sizeof(group->text) && i < group->size && group->text[i]; i++)
		fputc(isprint(group->text[i]) ? group->text[i] : '.', out);
}

void group_name_print_json(const struct census_group *group, char *const *type, bool show_data,
			   FILE *out)
{
	char text[CENSUS_SAMPLE_BYTES + 1] = "";

	fprintf(out, "\"kind\":\"%s\",\"class\":", content_name(group->kind));
	plain_text_json(out, group->kind == CONTENT_OBJECT ? type[group->type] : "");
	fprintf(out, ",\"size\":%" PRIu64 ",\"example\":\"0x%" PRIx64 "\"", group->size,
		group->sample);
	if (!show_data || group->kind != CONTENT_TEXT)
		return;
	for (size_t i = 0; i < CENSUS_SAMPLE_BYTES && i < group->size; i++)
		text[i] = (char)group->text[i];
	fputs(",\"text\":", out);
	plain_text_json(out, text);
}

static struct stopped stopped_for(const struct used_blocks *blocks)
{
	return (struct stopped){blocks->held_times, blocks->held_ns, blocks->held_threads};
}

void group_notes_print(const struct used_blocks *blocks, FILE *out)
{
	const struct stopped stopped = stopped_for(blocks);
	char text[HI_UNITS_TEXT_MAX];

	if (!used_blocks_are_known(blocks))
		fputs("cannot tell what it holds: its blocks could not be looked at\n", out);
	for (size_t i = 0; i < blocks->heaps.count; i++)
		if (*blocks->heaps.found[i].refusal)
			fprintf(out, "not counted: blocks of %s: %s\n", blocks->heaps.found[i].name,
				blocks->heaps.found[i].refusal);
	if (!blocks->heaps.count)
		fputs("not counted: blocks of an allocator that was not found\n", out);
	if (blocks->unsure_bytes)
		fprintf(out, "not counted: %s that changed while it was read, or are damaged\n",
			hi_format_bytes((double)blocks->unsure_bytes, text, sizeof(text)));
	if (blocks->held_times) {
		stopped_print(&stopped, out);
		fputc('\n', out);
	}
	if (blocks->is_partial)
		fprintf(out, "not counted: blocks beyond the first %zu\n", blocks->count);
}

void group_notes_print_json(const struct used_blocks *blocks, FILE *out)
{
	const struct stopped stopped = stopped_for(blocks);

	fputc(',', out);
	stopped_print_json(&stopped, out);
	fprintf(out, ",\"unsure_bytes\":%" PRIu64 ",\"partial\":%s,\"allocators\":[",
		blocks->unsure_bytes, blocks->is_partial ? "true" : "false");
	for (size_t i = 0; i < blocks->heaps.count; i++) {
		fputs(i ? ",{\"name\":" : "{\"name\":", out);
		plain_text_json(out, blocks->heaps.found[i].name);
		fputs(",\"refusal\":", out);
		plain_text_json(out, blocks->heaps.found[i].refusal);
		fputc('}', out);
	}
	fputc(']', out);
}
