/* SPDX-License-Identifier: MIT */
/*
 * smaps.c - see smaps.h. The file is that of maps, with lines of fields ("Rss:   12 kB") after each
 * mapping. maps_parse() skips the fields, and what it takes of the rest comes in the same order.
 */
#include "smaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proc_file.h"

#define FIELD_UNIT 1024u

static uint64_t *field_of(struct smap *smap, const char *line)
{
	const struct {
		const char *name;
		uint64_t *value;
	} fields[] = {
		{"Rss:", &smap->resident},        {"Anonymous:", &smap->anonymous},
		{"Swap:", &smap->swapped},        {"AnonHugePages:", &smap->huge},
		{"ShmemPmdMapped:", &smap->huge}, {"FilePmdMapped:", &smap->huge},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!strncmp(line, fields[i].name, strlen(fields[i].name)))
			return fields[i].value;
	return NULL;
}

static void take_field(const char *line, struct smap *smap)
{
	uint64_t *value = field_of(smap, line);

	if (value)
		*value += strtoull(strchr(line, ':') + 1, NULL, 10) * FIELD_UNIT;
}

/* The mapping that begins at `lo`, from number *at on; NULL: it was left out. */
static struct smap *smap_of(struct smaps *smaps, size_t *at, uint64_t lo)
{
	while (*at < smaps->maps.count && smaps->maps.mapping[*at].lo < lo)
		++*at;
	return *at < smaps->maps.count && smaps->maps.mapping[*at].lo == lo ? &smaps->of[*at]
									    : NULL;
}

static void take_fields(const char *text, size_t size, struct smaps *smaps)
{
	const char *const text_end = text + size;
	struct smap *smap = NULL;
	size_t at = 0;

	for (const char *line = text, *end; line < text_end; line = end + 1) {
		char *after;

		end = memchr(line, '\n', (size_t)(text_end - line));
		end = end ? end : text_end;
		const uint64_t lo = strtoull(line, &after, 16);

		if (after > line && *after == '-')
			smap = smap_of(smaps, &at, lo);
		else if (smap)
			take_field(line, smap);
	}
}

int smaps_parse(const char *text, size_t size, struct smaps *out_smaps)
{
	struct smaps smaps = {0};
	const int err = maps_parse(text, size, &smaps.maps);

	if (err)
		return err;
	smaps.of = calloc(smaps.maps.count + 1, sizeof(*smaps.of));
	if (!smaps.of) {
		smaps_close(&smaps);
		return -ENOMEM;
	}
	take_fields(text, size, &smaps);
	*out_smaps = smaps;
	return 0;
}

int smaps_read(pid_t pid, pid_t tid, struct smaps *out_smaps)
{
	size_t size;
	char *text;
	int err = proc_file_read(pid, tid, "smaps", &text, &size);

	if (err)
		return err;
	err = smaps_parse(text, size, out_smaps);
	free(text);
	return err;
}

int smaps_of(const struct memory *memory, struct smaps *out_smaps)
{
	const struct memory_copy *copy = memory->copy;

	if (!copy)
		return smaps_read(memory->pid, memory->tid, out_smaps);
	return copy->smaps ? smaps_parse(copy->smaps, copy->smaps_size, out_smaps) : -ENODATA;
}

void smaps_close(struct smaps *smaps)
{
	maps_close(&smaps->maps);
	free(smaps->of);
	*smaps = (struct smaps){0};
}
