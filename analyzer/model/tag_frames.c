/* SPDX-License-Identifier: MIT */
/*
 * tag_frames.c - see tag_frames.h. The first part of a row stays its row, the others become rows of
 * their own; then each row gets its stack. Start at tag_frames_add().
 */
#include "tag_frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocators.h"
#include "filter_rows.h"
#include "hi_units.h"
#include "printable.h"

#define KEYS_MAX 16u
#define VALUE_MAX 512u

struct keys {
	char *text;
	const char *key[KEYS_MAX];
	size_t count;
};
struct tagger {
	struct profile *profile;
	const struct tag_frames *tags;
	struct keys root, leaf;
	uint32_t *thread; /* by row: index in the breakdown; 0 = unknown */
	size_t row_room;
	uint32_t *frames;
	bool is_found;
};

static int keys_open(struct keys *keys, const char *text)
{
	char *rest = keys->text = text ? strdup(text) : NULL, *key;

	if (text && !rest)
		return -ENOMEM;
	while ((key = strsep(&rest, ",")) && keys->count < KEYS_MAX) {
		if (*key)
			keys->key[keys->count++] = key;
	}
	return 0;
}

/* Divides the rows by thread, and notes the thread of each. */
static int divide(struct tagger *tagger)
{
	struct profile *profile = tagger->profile;
	struct thread_breakdown *breakdown = &profile->breakdown;
	const size_t rows = profile->row_count;
	struct profile_row *whole = malloc((rows + 1) * sizeof(*whole));
	bool *is_taken = calloc(rows + 1, sizeof(*is_taken));
	int err = whole && is_taken ? 0 : -ENOMEM;

	tagger->thread = calloc(rows + breakdown->count + 1, sizeof(*tagger->thread));
	err = tagger->thread ? err : -ENOMEM;
	if (!err && rows)
		memcpy(whole, profile->row, rows * sizeof(*whole));
	for (size_t i = 0; i < breakdown->count && !err; i++) {
		struct part *part = &breakdown->part[i];
		const struct profile_row row = filter_row_of(&whole[part->row], part);
		uint32_t index = part->row;

		if (is_taken[part->row])
			err = profile_row_append(profile, &row, &index);
		else
			profile->row[index] = row;
		is_taken[part->row] = true;
		tagger->thread[index] = part->thread;
		part->row = index;
	}
	free(whole);
	free(is_taken);
	return err;
}

/* The values that the row's labels of that key have, with commas between. */
static void write_labels(const struct tagger *tagger, const struct profile_row *row,
			 const char *key, char *text)
{
	const struct label_set *labels = labels_get(&tagger->profile->labels, row->key.labels);
	char value[LABEL_TEXT_MAX];
	size_t size = 0;

	for (size_t i = 0; i < labels->count && size < VALUE_MAX; i++) {
		if (strcmp(labels->label[i].key, key) == 0)
			size += (size_t)snprintf(
				text + size, VALUE_MAX - size, "%s%s", size ? "," : "",
				labels_value(&labels->label[i], tagger->tags->size, value));
	}
}

static bool write_value(struct tagger *tagger, const struct profile_row *row, uint32_t thread,
			const char *key, char *text)
{
	const struct part_thread *of = thread ? &tagger->profile->breakdown.thread[thread] : NULL;
	char size[HI_UNITS_TEXT_MAX];

	*text = '\0';
	if (strcmp(key, "bytes") == 0 && row->block_bytes != PROFILE_NO_LABEL)
		snprintf(text, VALUE_MAX, "%s",
			 tagger->tags->size((double)profile_block_bytes(row), size));
	else if (strcmp(key, "thread") == 0 && of && of->name)
		snprintf(text, VALUE_MAX, "%s", of->name);
	else if (strcmp(key, "thread_id") == 0 && of && of->tid)
		snprintf(text, VALUE_MAX, "%" PRIu32, of->tid);
	else
		write_labels(tagger, row, key, text);
	printable(text);
	return *text;
}

/* Puts the frames of the keys behind the others, the last key first. */
static int put_frames(struct tagger *tagger, size_t row, const struct keys *keys, uint32_t *count)
{
	static char unknown[] = "<unknown>";
	char text[VALUE_MAX];

	for (size_t i = keys->count; i-- > 0;) {
		const bool is_found = write_value(tagger, &tagger->profile->row[row],
						  tagger->thread[row], keys->key[i], text);
		const struct profile_line line = {.function = is_found ? text : unknown,
						  .system_name = is_found ? text : unknown,
						  .file = (char *)(uintptr_t)keys->key[i]};

		tagger->is_found |= is_found;
		if (profile_frame_named(tagger->profile, &line, 1, &tagger->frames[(*count)++]))
			return -ENOMEM;
	}
	return 0;
}

/* True if all that the frame has are functions of the allocator, which no view shows at a leaf. */
static bool is_allocator(const struct profile_frame *frame)
{
	for (size_t i = 0; i < frame->line_count; i++) {
		if (!frame->line[i].function || !allocators_has(frame->line[i].function))
			return false;
	}
	return frame->line_count > 0;
}

static int tag_row(struct tagger *tagger, size_t row)
{
	const struct profile *profile = tagger->profile;
	const struct profile_stack stack = profile->stack[profile->row[row].key.stack];
	uint32_t count = 0, first = 0, new_stack;

	if (put_frames(tagger, row, &tagger->leaf, &count))
		return -ENOMEM;
	while (count && first + 1 < stack.frame_count &&
	       is_allocator(&profile->frame[stack.frame[first]]))
		first++;
	for (uint32_t i = first; i < stack.frame_count; i++)
		tagger->frames[count++] = stack.frame[i];
	if (put_frames(tagger, row, &tagger->root, &count) ||
	    profile_stack_of(tagger->profile, tagger->frames, count, stack.end, &new_stack))
		return -ENOMEM;
	tagger->profile->row[row].key.stack = new_stack;
	return 0;
}

static int tag_rows(struct tagger *tagger)
{
	const struct profile *profile = tagger->profile;
	size_t longest = 0;

	for (size_t i = 0; i < profile->stack_count; i++) {
		if (profile->stack[i].frame_count > longest)
			longest = profile->stack[i].frame_count;
	}
	tagger->frames = malloc((longest + 2 * KEYS_MAX) * sizeof(*tagger->frames));
	for (size_t i = 0; i < profile->row_count; i++) {
		if (!tagger->frames || tag_row(tagger, i))
			return -ENOMEM;
	}
	return 0;
}

int tag_frames_add(struct profile *profile, const struct tag_frames *tags, bool *out_is_found)
{
	struct tagger tagger = {.profile = profile, .tags = tags};
	int err = keys_open(&tagger.root, tags->root);

	if (!err)
		err = keys_open(&tagger.leaf, tags->leaf);
	if (!err)
		err = divide(&tagger);
	if (!err)
		err = tag_rows(&tagger);
	free(tagger.root.text);
	free(tagger.leaf.text);
	free(tagger.thread);
	free(tagger.frames);
	*out_is_found = tagger.is_found;
	return err;
}
