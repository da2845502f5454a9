/* SPDX-License-Identifier: MIT */
/* report_option_table.c - see report_option_table.h. */
#include "report_option_table.h"

#include <string.h>

#include "hi_options.h"
#include "hi_units.h"

#define RENDERERS_MAX 48u

static const char *const type_options[SAMPLE_TYPE_COUNT] = {
	[ALLOC_OBJECTS] = "alloc-objects",   [ALLOC_SPACE] = "alloc-space",
	[INUSE_OBJECTS] = "inuse-objects",   [INUSE_SPACE] = "inuse-space",
	[RESIDENT_SPACE] = "resident-space", [SWAPPED_SPACE] = "swapped-space",
};

/* The fixed options, the sample types, and one option for each renderer. */
static const struct option always[] = {
	{"help", no_argument, NULL, 'h'},
	{"output", required_argument, NULL, 'o'},
	{"binary", required_argument, NULL, 'p'},
	{"sysroot", required_argument, NULL, OPTION_SYSROOT},
	{"limit", required_argument, NULL, 'n'},
	{"sort", required_argument, NULL, OPTION_SORT},
	{"intervals", no_argument, NULL, OPTION_INTERVALS},
	{"details", no_argument, NULL, OPTION_DETAILS},
	{"base", required_argument, NULL, OPTION_BASE},
	{"tail", required_argument, NULL, OPTION_TAIL},
	{"fail-above", required_argument, NULL, OPTION_FAIL_ABOVE},
	{"diff-base", required_argument, NULL, OPTION_DIFF_BASE},
	{"sum", no_argument, NULL, OPTION_SUM},
	{"as-is", no_argument, NULL, OPTION_AS_IS},
	{"scale-base", no_argument, NULL, OPTION_SCALE_BASE},
	{"color", required_argument, NULL, OPTION_COLOR},
	{"focus", required_argument, NULL, OPTION_FILTER + FILTER_FOCUS},
	{"ignore", required_argument, NULL, OPTION_FILTER + FILTER_IGNORE},
	{"hide", required_argument, NULL, OPTION_FILTER + FILTER_HIDE},
	{"show", required_argument, NULL, OPTION_FILTER + FILTER_SHOW},
	{"show-from", required_argument, NULL, OPTION_FILTER + FILTER_SHOW_FROM},
	{"prune-from", required_argument, NULL, OPTION_FILTER + FILTER_PRUNE_FROM},
	{"tagfocus", required_argument, NULL, OPTION_FILTER + FILTER_TAGFOCUS},
	{"tagignore", required_argument, NULL, OPTION_FILTER + FILTER_TAGIGNORE},
	{"relative-percentages", no_argument, NULL, OPTION_RELATIVE_PERCENTAGES},
	{"functions", no_argument, NULL, OPTION_GRANULARITY + PROFILE_FUNCTIONS},
	{"files", no_argument, NULL, OPTION_GRANULARITY + PROFILE_FILES},
	{"filefunctions", no_argument, NULL, OPTION_GRANULARITY + PROFILE_FILEFUNCTIONS},
	{"lines", no_argument, NULL, OPTION_GRANULARITY + PROFILE_LINES},
	{"addresses", no_argument, NULL, OPTION_GRANULARITY + PROFILE_ADDRESSES},
	{"no-inlines", no_argument, NULL, OPTION_NO_INLINES},
	{"trim-path", required_argument, NULL, OPTION_TRIM_PATH},
	{"source-path", required_argument, NULL, OPTION_SOURCE_PATH},
	{"nodecount", required_argument, NULL, 'n'},
	{"nodefraction", required_argument, NULL, OPTION_NODE_FRACTION},
	{"edgefraction", required_argument, NULL, OPTION_EDGE_FRACTION},
	{"no-trim", no_argument, NULL, OPTION_NO_TRIM},
	{"unit", required_argument, NULL, OPTION_UNIT},
	{"show-bytes", no_argument, NULL, OPTION_SHOW_BYTES},
	{"wrapper", required_argument, NULL, OPTION_WRAPPER},
	{"no-wrapper", required_argument, NULL, OPTION_NO_WRAPPER},
	{"all-functions", no_argument, NULL, OPTION_RAW},
	{"divide-by", required_argument, NULL, OPTION_DIVIDE_BY},
	{"drop-negative", no_argument, NULL, OPTION_DROP_NEGATIVE},
	{"tagshow", required_argument, NULL, OPTION_TAGSHOW},
	{"taghide", required_argument, NULL, OPTION_TAGHIDE},
	{"tagroot", required_argument, NULL, OPTION_TAGROOT},
	{"tagleaf", required_argument, NULL, OPTION_TAGLEAF},
	{"call-tree", no_argument, NULL, OPTION_CALL_TREE},
	{"normalize", no_argument, NULL, OPTION_NORMALIZE},
	{"timeout", required_argument, NULL, OPTION_TIMEOUT},
	{"seconds", required_argument, NULL, OPTION_SECONDS},
	{"mean", no_argument, NULL, OPTION_MEAN},
	{"mmap", no_argument, NULL, OPTION_MMAP},
	{"pools", no_argument, NULL, OPTION_POOLS},
	/* As pprof calls them, beside the names above. */
	{"noinlines", no_argument, NULL, OPTION_NO_INLINES},
	{"trim", no_argument, NULL, OPTION_TRIM},
	{"cum", no_argument, NULL, OPTION_CUM},
	{"flat", no_argument, NULL, OPTION_FLAT},
	{"sample-index", required_argument, NULL, OPTION_SAMPLE_INDEX},
	{"granularity", required_argument, NULL, OPTION_GRANULARITY_NAME},
};
#define ALWAYS (sizeof(always) / sizeof(always[0]))

/* Views by the names that pprof has for them. */
static const struct {
	const char *name, *renderer;
} aliases[] = {{"top", "text"}, {"proto", "pprof"}};
#define ALIASES (sizeof(aliases) / sizeof(aliases[0]))

static const struct {
	const char *name, *instead;
} only_in_pprof[] = {
	{"http", "here it is --html -o FILE.html"},
	{"web", "here it is --svg -o FILE.svg, or web in the shell"},
	{"gif", "here it is --png -o FILE.png"},
	{"ps", "here it is --pdf -o FILE.pdf"},
	{"kcachegrind", "here it is --callgrind -o FILE"},
	{"eog", "here it is --svg -o FILE.svg, or web in the shell"},
	{"evince", "here it is --pdf -o FILE.pdf"},
	{"gv", "here it is --pdf -o FILE.pdf"},
	{"symbolize",
	 "names of the file stay, others are looked up here; -p FILE names the program"},
	{"tools", "no other programs are needed to look up names"},
	{"buildid", "-p FILE names the program, whose build-id must be that of the profile"},
	{"no_browser", "a browser is opened only by web in the shell"},
	{"add_comment", "comments are only read"},
};

struct option_table {
	struct option option[ALWAYS + SAMPLE_TYPE_COUNT + RENDERERS_MAX + ALIASES + 1];
	char letters[16 + RENDERERS_MAX];
};

static void build_options(struct option_table *table)
{
	size_t count = ALWAYS, letter;

	*table = (struct option_table){.letters = "ho:p:n:"};
	letter = strlen(table->letters);
	memcpy(table->option, always, sizeof(always));
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++)
		table->option[count++] =
			(struct option){type_options[type], no_argument, NULL, OPTION_TYPE + type};
	for (size_t i = 0; i < RENDERERS_MAX && renderers[i].name; i++) {
		const int has_argument = renderers[i].argument ? required_argument : no_argument;

		table->option[count++] = (struct option){renderers[i].name, has_argument, NULL,
							 OPTION_RENDERER + (int)i};
		if (renderers[i].letter)
			table->letters[letter++] = renderers[i].letter;
	}
	for (size_t i = 0; i < ALIASES; i++) {
		struct option alias = *hi_option_find(table->option, aliases[i].renderer,
						      strlen(aliases[i].renderer));
		alias.name = aliases[i].name;
		table->option[count++] = alias;
	}
}

const struct option *report_option_table_get(const char **out_letters)
{
	static struct option_table table;

	if (!table.option[0].name)
		build_options(&table);
	*out_letters = table.letters;
	return table.option;
}

const char *report_option_table_type(enum sample_type type)
{
	return type_options[type];
}

bool report_option_table_type_of(const char *text, enum sample_type *out_type)
{
	const char *end;
	uint64_t number = SAMPLE_TYPE_COUNT;

	if (hi_parse_digits(text, &number, &end) || *end)
		for (number = 0; number < SAMPLE_TYPE_COUNT; number++)
			if (hi_option_is(type_options[number], text, strlen(text)))
				break;
	if (number >= SAMPLE_TYPE_COUNT)
		return false;
	*out_type = (enum sample_type)number;
	return true;
}

const char *report_option_table_instead(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(only_in_pprof) / sizeof(only_in_pprof[0]); i++) {
		if (hi_option_is(only_in_pprof[i].name, name, size))
			return only_in_pprof[i].instead;
	}
	return NULL;
}
