/* SPDX-License-Identifier: MIT */
/*
 * render_tags.c - pprof's view of tags: each key, and below it each of its values with the weight
 * of the samples that have it. The keys are those of --pprof: the size of the blocks, the thread,
 * and the labels of the file.
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

struct tag {
	const char *key; /* of the profile, or of this file */
	char *value;
	double weight;
	/* has something of any type; in a comparison it may cancel out */
	double all[SAMPLE_TYPE_COUNT];
};
struct tags {
	struct tag *tag;
	size_t count, capacity;
	struct table index;
	enum sample_type type;
};
/* The tags of one key, and what they have together. */
struct key_tags {
	const struct tag *tag;
	size_t count;
	double total;
};

static int tag_of(struct tags *tags, const char *key, const char *value, struct tag **out_tag)
{
	const uint64_t hash =
		hash_number(hash_bytes(value, strlen(value)) ^ hash_bytes(key, strlen(key)));
	struct table_cursor cursor = table_seek(&tags->index, hash);
	uint32_t index;

	while (table_next(&tags->index, &cursor, &index)) {
		*out_tag = &tags->tag[index];
		if (strcmp((*out_tag)->key, key) == 0 && strcmp((*out_tag)->value, value) == 0)
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

static int add(struct tags *tags, const char *key, const char *value,
	       const double weight[SAMPLE_TYPE_COUNT])
{
	struct tag *tag;

	if (tag_of(tags, key, value, &tag))
		return -ENOMEM;
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		tag->all[type] += weight[type];
	tag->weight = tag->all[tags->type];
	return 0;
}

/* The same for a value that is a text of the file or of the process. */
static int add_text(struct tags *tags, const char *key, const char *text,
		    const double weight[SAMPLE_TYPE_COUNT])
{
	char *value = strdup(text);
	int err = value ? 0 : -ENOMEM;

	if (!err) {
		printable(value);
		err = add(tags, key, value, weight);
	}
	free(value);
	return err;
}

static int add_labels(struct tags *tags, const struct label_set *labels,
		      const double weight[SAMPLE_TYPE_COUNT])
{
	char value[LABEL_TEXT_MAX];
	int err = 0;

	for (size_t i = 0; i < labels->count && !err; i++)
		err = add_text(tags, labels->label[i].key,
			       labels_value(&labels->label[i], render_size, value), weight);
	return err;
}

static int add_thread(struct tags *tags, const struct part_thread *thread,
		      const double weight[SAMPLE_TYPE_COUNT])
{
	char tid[16];
	const int err = thread->name ? add_text(tags, "thread", thread->name, weight) : 0;

	if (err || !thread->tid)
		return err;
	snprintf(tid, sizeof(tid), "%" PRIu32, thread->tid);
	return add(tags, "thread_id", tid, weight);
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
		err = add(tags, "bytes", render_size((double)size, value), weight);
	if (!err)
		err = add_labels(tags, labels_get(&profile->labels, row->key.labels), weight);
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
	const int order = strcmp(a->key, b->key);

	if (order)
		return order;
	if (fabs(a->weight) != fabs(b->weight))
		return fabs(a->weight) > fabs(b->weight) ? -1 : 1;
	return strcmp(a->value, b->value);
}

/* Writes the cell before the value: "1.5kB (12.00%):". */
static void write_weight(const struct tag *tag, double total, enum sample_type type, char *text,
			 size_t size)
{
	char weight[HI_UNITS_TEXT_MAX], percent[HI_UNITS_TEXT_MAX];

	render_value_short(tag->weight, type, weight);
	if (total > 0)
		snprintf(text, size, "%s (%s):", weight,
			 render_percent(tag->weight, total, percent));
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

static void print_key(const struct key_tags *of, enum sample_type type, FILE *out)
{
	char key[LABEL_TEXT_MAX], text[3 * HI_UNITS_TEXT_MAX];
	const int indent = (int)strlen(of->tag->key) + 2;
	int width = 0;

	snprintf(key, sizeof(key), "%s", of->tag->key);
	printable(key);
	for (size_t i = 0; i < of->count; i++) {
		write_weight(&of->tag[i], of->total, type, text, sizeof(text));
		if (is_there(&of->tag[i]) && (int)strlen(text) > width)
			width = (int)strlen(text);
	}
	fprintf(out, " %s: Total %s\n", key, render_value_short(of->total, type, text));
	for (size_t i = 0; i < of->count; i++) {
		if (!is_there(&of->tag[i]))
			continue;
		write_weight(&of->tag[i], of->total, type, text, sizeof(text));
		fprintf(out, "%*s%*s %s\n", indent, "", width + 1, text, of->tag[i].value);
	}
	putc('\n', out);
}

/* The tags from `first` on that have its key. */
static struct key_tags tags_of_key(const struct tags *tags, size_t first)
{
	struct key_tags of = {.tag = &tags->tag[first]};

	while (first + of.count < tags->count && strcmp(of.tag[of.count].key, of.tag->key) == 0)
		of.total += of.tag[of.count++].weight;
	return of;
}

/* Prints the keys that the options leave. */
static int print_keys(const struct tags *tags, const struct render_options *options, FILE *out)
{
	char complaint[PATTERN_COMPLAINT_MAX];
	struct pattern show = {.is_set = false}, hide = {.is_set = false};
	bool is_any = false;
	int err = pattern_open(&show, options->tagshow, complaint);

	if (!err)
		err = pattern_open(&hide, options->taghide, complaint);
	for (size_t i = 0; i < tags->count && !err;) {
		const struct key_tags of = tags_of_key(tags, i);

		i += of.count;
		if ((show.is_set && !pattern_matches(&show, of.tag->key)) ||
		    pattern_matches(&hide, of.tag->key))
			continue;
		print_key(&of, tags->type, out);
		is_any = true;
	}
	if (!err && !is_any)
		fprintf(out,
			"No tags%s: --tags shows bytes, thread, thread_id and "
			"other tools' labels\n",
			tags->count ? " that --tagshow and --taghide leave" : "");
	pattern_close(&show);
	pattern_close(&hide);
	return err;
}

int render_tags(const struct profile *profile, const struct render_options *options, FILE *out)
{
	struct tags tags = {.type = options->type};
	int err = sum_up(&tags, profile);

	if (!err && tags.count)
		qsort(tags.tag, tags.count, sizeof(*tags.tag), compare_tags);
	if (!err)
		err = print_keys(&tags, options, out);
	for (size_t i = 0; i < tags.count; i++)
		free(tags.tag[i].value);
	free(tags.tag);
	table_close(&tags.index);
	return render_result(err, out);
}
