/* SPDX-License-Identifier: MIT */
/*
 * render_tags.c - pprof's view of tags: each key, and below it each of its values with the weight
 * of the samples that have it. The keys are those of --pprof: the size of the blocks, and the
 * thread.
 */
#include "render_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hi_units.h"
#include "pattern.h"
#include "printable.h"
#include "render_units.h"
#include "table.h"

enum tag_key { TAG_BYTES, TAG_THREAD, TAG_THREAD_ID, TAG_KEYS };
static const char *const key_names[TAG_KEYS] = {"bytes", "thread", "thread_id"};

struct tag {
	enum tag_key key;
	char *value;
	double weight;
	/* has something of any type; in a comparison it may cancel out */
	double all[SAMPLE_TYPE_COUNT];
};
struct tags {
	struct tag *tag;
	size_t count, capacity;
	struct table index;
	double total[TAG_KEYS];
	enum sample_type type;
};

static int tag_of(struct tags *tags, enum tag_key key, const char *value, struct tag **out_tag)
{
	const uint64_t hash = hash_bytes(value, strlen(value)) + key;
	struct table_cursor cursor = table_seek(&tags->index, hash);
	uint32_t index;

	while (table_next(&tags->index, &cursor, &index)) {
		*out_tag = &tags->tag[index];
		if ((*out_tag)->key == key && strcmp((*out_tag)->value, value) == 0)
			return 0;
	}
	if (array_reserve(&tags->tag, &tags->capacity, tags->count, sizeof(*tags->tag)) ||
	    table_add(&tags->index, hash, (uint32_t)tags->count))
		return -ENOMEM;
	*out_tag = &tags->tag[tags->count];
	**out_tag = (struct tag){.key = key, .value = strdup(value)};
	tags->count += (*out_tag)->value != NULL;
	return (*out_tag)->value ? 0 : -ENOMEM;
}

static int add(struct tags *tags, enum tag_key key, const char *value,
	       const double weight[SAMPLE_TYPE_COUNT])
{
	struct tag *tag;

	if (tag_of(tags, key, value, &tag))
		return -ENOMEM;
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		tag->all[type] += weight[type];
	tag->weight = tag->all[tags->type];
	tags->total[key] += weight[tags->type];
	return 0;
}

static int add_thread(struct tags *tags, const struct part_thread *thread,
		      const double weight[SAMPLE_TYPE_COUNT])
{
	char *name = thread->name ? strdup(thread->name) : NULL, tid[16];
	int err = thread->name && !name ? -ENOMEM : 0;

	if (name && !err) {
		printable(name);
		err = add(tags, TAG_THREAD, name, weight);
	}
	free(name);
	if (err || !thread->tid)
		return err;
	snprintf(tid, sizeof(tid), "%" PRIu32, thread->tid);
	return add(tags, TAG_THREAD_ID, tid, weight);
}

/* part: NULL = the whole row, of which the threads are unknown. */
static int add_row(struct tags *tags, const struct profile *profile, const struct profile_row *row,
		   const struct part *part)
{
	double weight[SAMPLE_TYPE_COUNT];
	const uint64_t size = profile_block_bytes(row);
	char value[HI_UNITS_TEXT_MAX];
	int err = 0;

	/* whole numbers, as pprof has them in the file */
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		weight[type] =
			round(estimate_part(profile, row, part, (enum sample_type)type).value);
	if (row->block_bytes != PROFILE_NO_LABEL)
		err = add(tags, TAG_BYTES, render_size((double)size, value), weight);
	return err || !part || !part->thread
		       ? err
		       : add_thread(tags, &profile->breakdown.thread[part->thread], weight);
}

static int sum_up(struct tags *tags, const struct profile *profile)
{
	const struct thread_breakdown *breakdown = &profile->breakdown;
	int err = 0;

	for (size_t i = 0; i < breakdown->count && !err; i++)
		err = add_row(tags, profile, &profile->row[breakdown->part[i].row],
			      &breakdown->part[i]);
	for (size_t i = 0; i < profile->row_count && !breakdown->count && !err; i++)
		err = add_row(tags, profile, &profile->row[i], NULL);
	return err;
}

/* By key, then the heaviest first. */
static int compare_tags(const void *left, const void *right)
{
	const struct tag *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (fabs(a->weight) != fabs(b->weight))
		return fabs(a->weight) > fabs(b->weight) ? -1 : 1;
	return strcmp(a->value, b->value);
}

/* Writes the cell before the value: "1.5kB (12.00%):". */
static void write_weight(const struct tags *tags, const struct tag *tag, enum sample_type type,
			 char *text, size_t size)
{
	char weight[HI_UNITS_TEXT_MAX], percent[HI_UNITS_TEXT_MAX];

	render_value_short(tag->weight, type, weight);
	if (tags->total[tag->key] > 0)
		snprintf(text, size, "%s (%s):", weight,
			 render_percent(tag->weight, tags->total[tag->key], percent));
	else
		snprintf(text, size, "%s:", weight);
}

static bool is_there(const struct tag *tag)
{
	bool is_any = false;

	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		is_any |= tag->all[type] != 0;
	return is_any;
}

static void print_key(const struct tags *tags, size_t first, FILE *out)
{
	const enum sample_type type = tags->type;
	const enum tag_key key = tags->tag[first].key;
	const int indent = (int)strlen(key_names[key]) + 2;
	char text[3 * HI_UNITS_TEXT_MAX];
	int width = 0;

	for (size_t i = first; i < tags->count && tags->tag[i].key == key; i++) {
		write_weight(tags, &tags->tag[i], type, text, sizeof(text));
		width = is_there(&tags->tag[i]) && (int)strlen(text) > width ? (int)strlen(text)
									     : width;
	}
	fprintf(out, " %s: Total %s\n", key_names[key],
		render_value_short(tags->total[key], type, text));
	for (size_t i = first; i < tags->count && tags->tag[i].key == key; i++) {
		if (!is_there(&tags->tag[i]))
			continue;
		write_weight(tags, &tags->tag[i], type, text, sizeof(text));
		fprintf(out, "%*s%*s %s\n", indent, "", width + 1, text, tags->tag[i].value);
	}
	putc('\n', out);
}

/* Sets the keys that the options leave. */
static int choose_keys(const struct render_options *options, bool *is_shown)
{
	char complaint[PATTERN_COMPLAINT_MAX];
	struct pattern show = {.is_set = false}, hide = {.is_set = false};
	int err = pattern_open(&show, options->tagshow, complaint);

	if (!err)
		err = pattern_open(&hide, options->taghide, complaint);
	for (int key = 0; key < TAG_KEYS && !err; key++)
		is_shown[key] = (!show.is_set || pattern_matches(&show, key_names[key])) &&
				!pattern_matches(&hide, key_names[key]);
	pattern_close(&show);
	pattern_close(&hide);
	return err;
}

int render_tags(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct tags tags = {.type = options->type};
	bool is_shown[TAG_KEYS] = {false};
	bool is_any = false;
	int err = choose_keys(options, is_shown);

	if (!err)
		err = sum_up(&tags, profile);
	if (!err && tags.count)
		qsort(tags.tag, tags.count, sizeof(*tags.tag), compare_tags);
	for (size_t i = 0; i < tags.count && !err; i++) {
		if ((i && tags.tag[i - 1].key == tags.tag[i].key) || !is_shown[tags.tag[i].key])
			continue;
		print_key(&tags, i, out);
		is_any = true;
	}
	if (!err && !is_any)
		fprintf(out, "No tags%s: --tags shows bytes, thread and thread_id\n",
			tags.count ? " that --tagshow and --taghide leave" : "");
	for (size_t i = 0; i < tags.count; i++)
		free(tags.tag[i].value);
	free(tags.tag);
	table_close(&tags.index);
	return render_result(err, out);
}
