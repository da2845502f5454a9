/* SPDX-License-Identifier: MIT */
/* labels.c - see labels.h. Start at labels_add(). */
#include "labels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hi_units.h"
#include "text_equal.h"

/* Stores the text once. NULL stays NULL. */
static int intern(struct label_sets *sets, const char *text, const char **out_text)
{
	const size_t size = text ? strnlen(text, LABEL_TEXT_MAX - 1) : 0;
	const uint64_t hash = hash_bytes(text, size);
	struct table_cursor cursor = table_seek(&sets->texts, hash);
	uint32_t index;

	*out_text = NULL;
	if (!text)
		return 0;
	while (table_next(&sets->texts, &cursor, &index)) {
		*out_text = sets->text[index];
		if (strncmp(*out_text, text, size) == 0 && !(*out_text)[size])
			return 0;
	}
	if (array_reserve(&sets->text, &sets->text_capacity, sets->text_count,
			  sizeof(*sets->text)) ||
	    table_add(&sets->texts, hash, (uint32_t)sets->text_count))
		return -ENOMEM;
	sets->text[sets->text_count] = strndup(text, size);
	*out_text = sets->text[sets->text_count];
	sets->text_count += *out_text != NULL;
	return *out_text ? 0 : -ENOMEM;
}

static int compare_texts(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_labels(const void *left, const void *right)
{
	const struct label *a = left, *b = right;
	int order = compare_texts(a->key, b->key);

	order = order ? order : compare_texts(a->text, b->text);
	order = order ? order : (a->number > b->number) - (a->number < b->number);
	return order ? order : compare_texts(a->unit, b->unit);
}

uint64_t labels_hash(const struct label_set *set)
{
	uint64_t hash = set->count;

	for (size_t i = 0; i < set->count; i++) {
		const struct label *label = &set->label[i];
		const char *const texts[] = {label->key, label->text, label->unit};

		hash = hash_number(hash ^ (uint64_t)label->number);
		for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++)
			hash = texts[k] ? hash_number(hash ^ hash_bytes(texts[k], strlen(texts[k])))
					: hash_number(hash);
	}
	return hash;
}

static bool is_same(const struct label_set *a, const struct label_set *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (compare_labels(&a->label[i], &b->label[i]) != 0)
			return false;
	}
	return true;
}

static int reserve_set(struct label_sets *sets)
{
	return array_reserve(&sets->set, &sets->set_capacity, sets->set_count, sizeof(*sets->set));
}

static int add_set(struct label_sets *sets, const struct label_set *set, uint64_t hash,
		   uint32_t *out_set)
{
	struct label *copy = malloc(set->count * sizeof(*copy));

	if (!copy || reserve_set(sets) || table_add(&sets->sets, hash, (uint32_t)sets->set_count)) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, set->label, set->count * sizeof(*copy));
	*out_set = (uint32_t)sets->set_count;
	sets->set[sets->set_count++] = (struct label_set){copy, set->count};
	return 0;
}

int labels_add(struct label_sets *sets, struct label *label, size_t count, uint32_t *out_set)
{
	const struct label_set set = {label, count};
	struct table_cursor cursor;
	uint64_t hash;

	*out_set = 0;
	if (!sets->set_count) {
		if (reserve_set(sets))
			return -ENOMEM;
		sets->set[sets->set_count++] = (struct label_set){NULL, 0};
	}
	if (!count)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (intern(sets, label[i].key, &label[i].key) ||
		    intern(sets, label[i].text, &label[i].text) ||
		    intern(sets, label[i].unit, &label[i].unit))
			return -ENOMEM;
	}
	qsort(label, count, sizeof(*label), compare_labels);
	hash = labels_hash(&set);
	cursor = table_seek(&sets->sets, hash);
	while (table_next(&sets->sets, &cursor, out_set)) {
		if (is_same(&sets->set[*out_set], &set))
			return 0;
	}
	return add_set(sets, &set, hash, out_set);
}

const struct label_set *labels_get(const struct label_sets *sets, uint32_t set)
{
	static const struct label_set none = {NULL, 0};

	return set < sets->set_count ? &sets->set[set] : &none;
}

int labels_merge(struct label_sets *into, const struct label_sets *from, uint32_t *place)
{
	struct label copy[LABELS_MAX];

	place[0] = 0;
	for (uint32_t i = 0; i < from->set_count; i++) {
		const struct label_set *set = &from->set[i];

		if (set->count)
			memcpy(copy, set->label, set->count * sizeof(*copy));
		if (labels_add(into, copy, set->count, &place[i]))
			return -ENOMEM;
	}
	return 0;
}

/* In the largest unit of which it is at least one, as pprof does. */
static const char *time_value(int64_t number, const char *unit, char text[LABEL_TEXT_MAX])
{
	static const struct {
		const char *names; /* with a space before and behind each; the first is written */
		double ns;
	} units[] = {{" ns nanosecond nanoseconds ", 1},
		     {" us microsecond microseconds ", 1e3},
		     {" ms millisecond milliseconds ", 1e6},
		     {" s sec second seconds ", 1e9},
		     {" hrs hour hours hr ", 3600e9}};
	char wanted[HI_UNITS_TEXT_MAX];
	size_t of = 0, fitting = 0;

	snprintf(wanted, sizeof(wanted), " %s ", unit);
	while (of < sizeof(units) / sizeof(*units) && !strstr(units[of].names, wanted))
		of++;
	if (!*unit || strchr(unit, ' ') || of == sizeof(units) / sizeof(*units))
		return NULL;
	const double ns = (double)number * units[of].ns;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (ns >= units[i].ns || ns <= -units[i].ns)
			fitting = i;
	}
	const int size = snprintf(text, LABEL_TEXT_MAX, "%.2f", ns / units[fitting].ns);
	if (size > 3 && strcmp(text + size - 3, ".00") == 0)
		text[size - 3] = '\0';
	if (strcmp(text, "0") != 0)
		strncat(text, units[fitting].names + 1, strcspn(units[fitting].names + 1, " "));
	return text;
}

const char *labels_value(const struct label *label, char *(*size)(double bytes, char *text),
			 char text[LABEL_TEXT_MAX])
{
	if (label->text)
		return label->text;
	if (text_equal(label->unit, LABEL_BYTES))
		return size((double)label->number, text);
	if (time_value(label->number, label->unit, text))
		return text;
	snprintf(text, LABEL_TEXT_MAX, "%" PRId64, label->number);
	return text;
}

void labels_close(struct label_sets *sets)
{
	for (size_t i = 0; i < sets->text_count; i++)
		free(sets->text[i]);
	for (size_t i = 0; i < sets->set_count; i++)
		free((void *)(uintptr_t)sets->set[i].label);
	free(sets->text);
	free(sets->set);
	table_close(&sets->texts);
	table_close(&sets->sets);
	*sets = (struct label_sets){0};
}
