/* SPDX-License-Identifier: MIT */
/* query.c - see query.h. A new name is a line in one of the tables. */
#include "query.h"

#include <stddef.h>
#include <string.h>

#include "hi_units.h"

static const struct display {
	const char *name;
	enum serve_page page;
} displays[] = {
	{"flame", SERVE_REPORT}, {"text", SERVE_TEXT},   {"tree", SERVE_TREE},
	{"dot", SERVE_DOT},      {"leaks", SERVE_LEAKS}, {"collapsed", SERVE_COLLAPSED},
	{"heap", SERVE_HEAP},    {"pprof", SERVE_PPROF},
};

static const struct sample_type {
	const char *name, *option;
} sample_types[] = {
	{"inuse_space", "--inuse-space"},
	{"inuse_objects", "--inuse-objects"},
	{"alloc_space", "--alloc-space"},
	{"alloc_objects", "--alloc-objects"},
};

static bool read_number(const char *text, uint64_t most, uint64_t *out_number)
{
	const char *end;
	uint64_t number;

	if (hi_parse_digits(text, &number, &end) || *end || number > most)
		return false;
	*out_number = number;
	return true;
}

static const char *take_display(struct query *query, const char *value)
{
	for (size_t i = 0; i < sizeof(displays) / sizeof(*displays); i++)
		if (strcmp(displays[i].name, value) == 0)
			query->display = displays[i].page;
	return query->display ? NULL
			      : "display_type= wants flame, text, tree, dot, collapsed, leaks, "
				"heap or pprof\n";
}

static const char *take_sample_type(struct query *query, const char *value)
{
	for (size_t i = 0; i < sizeof(sample_types) / sizeof(*sample_types); i++)
		if (strcmp(sample_types[i].name, value) == 0)
			query->sample_type = sample_types[i].option;
	return query->sample_type ? NULL
				  : "sample_type= wants inuse_space, inuse_objects, alloc_space "
				    "or alloc_objects\n";
}

const char *query_take(struct query *query, const char *name, const char *value)
{
	uint64_t seconds;

	if (strcmp(name, "console") == 0)
		query->is_text = value && strcmp(value, "1") == 0;
	/* an empty choice of a form is none */
	if (!value || !*value)
		return strcmp(name, "seconds") == 0 ? "seconds= wants a number\n" : NULL;
	if (strcmp(name, "seconds") == 0) {
		if (!read_number(value, QUERY_SECONDS_MAX, &seconds))
			return "seconds= wants a number, 3600 at most\n";
		query->seconds = (unsigned)seconds;
	} else if (strcmp(name, "view") == 0) {
		if (!read_number(value, UINT64_MAX, &query->view) || !query->view)
			return "view= wants the time of a kept profile; see /profiles\n";
	} else if (strcmp(name, "base") == 0) {
		if (!read_number(value, UINT64_MAX, &query->base) || !query->base)
			return "base= wants the time of a kept profile; see /profiles\n";
	} else if (strcmp(name, "display_type") == 0) {
		return take_display(query, value);
	} else if (strcmp(name, "sample_type") == 0) {
		return take_sample_type(query, value);
	}
	return NULL;
}
