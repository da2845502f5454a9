/* SPDX-License-Identifier: MIT */
/* hotspot_texts.c - see hotspot_texts.h. */
#include "hotspot_texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_MAX 4096u

static int text_read(const struct memory *memory, remote_addr at, char text[HOTSPOT_TEXT_MAX])
{
	const size_t to_page = 4096 - at % 4096;
	const size_t first = to_page < HOTSPOT_TEXT_MAX ? to_page : HOTSPOT_TEXT_MAX;

	memset(text, 0, HOTSPOT_TEXT_MAX);
	int err = memory_read(memory, at, text, first);

	if (!err && first < HOTSPOT_TEXT_MAX && !memchr(text, 0, first))
		err = memory_read(memory, at + first, text + first, HOTSPOT_TEXT_MAX - first);
	text[HOTSPOT_TEXT_MAX - 1] = 0;
	return err;
}

static int text_add(struct hotspot_texts *texts, const struct memory *memory, remote_addr at)
{
	struct hotspot_text text = {.at = at};
	struct hotspot_text *grown;

	if (texts->count == TEXTS_MAX)
		return -ENOBUFS;
	int err = text_read(memory, at, text.text);

	if (err)
		return err;
	grown = realloc(texts->text, (texts->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	texts->text = grown;
	texts->text[texts->count] = text;
	texts->last = texts->count++;
	return 0;
}

int hotspot_text_find(struct hotspot_texts *texts, const struct memory *memory, remote_addr at)
{
	if (texts->last < texts->count && texts->text[texts->last].at == at)
		return 0;
	for (size_t i = 0; i < texts->count; i++) {
		if (texts->text[i].at == at) {
			texts->last = i;
			return 0;
		}
	}
	return text_add(texts, memory, at);
}

void hotspot_texts_close(struct hotspot_texts *texts)
{
	free(texts->text);
	*texts = (struct hotspot_texts){0};
}
