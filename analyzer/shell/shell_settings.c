/* SPDX-License-Identifier: MIT */
/*
 * shell_settings.c - see shell_settings.h.
 */
#include "shell_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hi_options.h"
#include "report_option_table.h"
#include "report_options.h"
#include "sample_types.h"

/* Options that are used while files are read, or that the shell sets by other means. */
static const char *const unsettable[] = {"help",      "output",  "binary",  "base",
					 "diff-base", "timeout", "seconds", "sysroot"};

static bool is_settable(const char *name)
{
	for (size_t i = 0; i < sizeof(unsettable) / sizeof(unsettable[0]); i++) {
		if (strcmp(unsettable[i], name) == 0)
			return false;
	}
	for (const struct renderer *renderer = renderers; renderer->name; renderer++) {
		if (strcmp(renderer->name, name) == 0)
			return false;
	}
	return true;
}

/* An option may have several names. The primary name is the first one. */
static const struct option *first_of(const struct option *known, int code)
{
	while (known->name && known->val != code)
		known++;
	return known->name ? known : NULL;
}

const struct option *shell_settings_find(const char *name, size_t size)
{
	const char *letters;
	const struct option *known = report_option_table_get(&letters),
			    *option = hi_option_find(known, name, size);

	if (option)
		option = first_of(known, option->val);
	return option && is_settable(option->name) ? option : NULL;
}

/*
 * The option in whose place this one stands, and the value that it has there: *value becomes that.
 * Itself if there is none.
 */
static const struct option *meant(const struct option *option, const char **value)
{
	static const char *const granularity[] = {[PROFILE_FUNCTIONS] = "functions",
						  [PROFILE_FILES] = "files",
						  [PROFILE_LINES] = "lines",
						  [PROFILE_ADDRESSES] = "addresses",
						  [PROFILE_FILEFUNCTIONS] = "filefunctions"};
	const int code = option->val;
	enum sample_type type;

	if (code >= OPTION_TYPE && code < OPTION_TYPE + SAMPLE_TYPE_COUNT) {
		*value = sample_types[code - OPTION_TYPE].name;
		return shell_settings_find("sample-index", strlen("sample-index"));
	}
	if (code >= OPTION_GRANULARITY && code < OPTION_TYPE) {
		*value = granularity[code - OPTION_GRANULARITY];
		return shell_settings_find("granularity", strlen("granularity"));
	}
	if (code == OPTION_CUM || code == OPTION_FLAT) {
		*value = code == OPTION_CUM ? "cum" : "flat";
		return shell_settings_find("sort", strlen("sort"));
	}
	if (code == OPTION_NO_TRIM) {
		*value = "false";
		return shell_settings_find("trim", strlen("trim"));
	}
	if (code == OPTION_SHOW_BYTES) {
		*value = "bytes";
		return shell_settings_find("unit", strlen("unit"));
	}
	if (code == OPTION_SAMPLE_INDEX && *value && report_option_table_type_of(*value, &type))
		*value = sample_types[type].name;
	return option;
}

static bool is_of(const char *argument, const char *name)
{
	const size_t size = strlen(name);

	return strncmp(argument + 2, name, size) == 0 &&
	       (argument[2 + size] == '=' || argument[2 + size] == '\0');
}

bool shell_settings_unset(struct shell_settings *settings, const struct option *option)
{
	const char *ignored = NULL;

	option = meant(option, &ignored);
	for (size_t i = 0; i < settings->count; i++) {
		if (!is_of(settings->argument[i], option->name))
			continue;
		free(settings->argument[i]);
		settings->count--;
		memmove(&settings->argument[i], &settings->argument[i + 1],
			(settings->count - i) * sizeof(settings->argument[0]));
		return true;
	}
	return false;
}

static char *argument_of(const struct option *option, const char *value)
{
	char *argument;
	const int size = value ? asprintf(&argument, "--%s=%s", option->name, value)
			       : asprintf(&argument, "--%s", option->name);

	return size < 0 ? NULL : argument;
}

int shell_settings_set(struct shell_settings *settings, const struct option *option,
		       const char *value)
{
	option = meant(option, &value);
	char *argument = argument_of(option, value);
	if (!argument)
		return -ENOMEM;
	shell_settings_unset(settings, option);
	if (settings->count == SHELL_SETTINGS_MAX) {
		free(argument);
		return -ENOSPC;
	}
	settings->argument[settings->count++] = argument;
	return 0;
}

const char *shell_settings_value(const struct shell_settings *settings, const struct option *option)
{
	const char *ignored = NULL;

	option = meant(option, &ignored);
	for (size_t i = 0; i < settings->count; i++) {
		const char *argument = settings->argument[i];

		if (is_of(argument, option->name))
			return argument[2 + strlen(option->name)]
				       ? argument + 3 + strlen(option->name)
				       : "true";
	}
	return NULL;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Values before anything is set; "false" or "" where an option is not here. */
static const struct {
	const char *name, *shown_as, *value, *choices;
} initial[] = {
	{"color", NULL, "auto", "always | auto | never"},
	{"divide-by", NULL, "1", NULL},
	{"edgefraction", NULL, "0.001", NULL},
	{"granularity", NULL, "functions", "addresses | filefunctions | files | functions | lines"},
	{"limit", "nodecount", "-1", "0 is all, -1 is the view's own"},
	{"nodefraction", NULL, "0.005", NULL},
	{"sample-index", NULL, NULL,
	 "alloc_objects | alloc_space | inuse_objects | inuse_space | resident_space | "
	 "swapped_space"},
	{"sort", NULL, "flat", "cum | flat"},
	{"tail", NULL, "10%", NULL},
	{"trim", NULL, "true", NULL},
	{"unit", NULL, "auto", "auto | minimum | bytes | kb | mb | gb | tb"},
};

/* "  name = value //: choices; default is other", with _ for -. */
static void print_setting(const struct shell_settings *settings, const struct option *option,
			  enum sample_type type, FILE *out)
{
	const char *set_to = shell_settings_value(settings, option), *name = option->name,
		   *choices = NULL,
		   *value = option->has_arg == required_argument ? "\"\"" : "false";
	char shown[64];

	for (size_t i = 0; i < sizeof(initial) / sizeof(initial[0]); i++) {
		if (strcmp(initial[i].name, option->name) != 0)
			continue;
		name = initial[i].shown_as ? initial[i].shown_as : name;
		value = initial[i].value ? initial[i].value : sample_types[type].name;
		choices = initial[i].choices;
	}
	snprintf(shown, sizeof(shown), "%s", name);
	for (char *at = shown; *at; at++)
		*at = *at == '-' ? '_' : *at;
	fprintf(out, "  %-20s = %s", shown, set_to ? set_to : value);
	if (choices)
		fprintf(out, "  //: [%s]", choices);
	if (set_to && strcmp(set_to, value) != 0)
		fprintf(out, "%s default is %s", choices ? "," : "  //:", value);
	fputc('\n', out);
}

static int compare_names(const void *left, const void *right)
{
	const struct option *const *a = left, *const *b = right;

	return strcmp((*a)->name, (*b)->name);
}

void shell_settings_print(const struct shell_settings *settings, enum sample_type type, FILE *out)
{
	const char *letters;
	const struct option *known = report_option_table_get(&letters), *shown[SHELL_SETTINGS_MAX];
	size_t count = 0;

	for (; known->name && count < SHELL_SETTINGS_MAX; known++) {
		const char *ignored = NULL;
		const struct option *option = shell_settings_find(known->name, strlen(known->name));

		if (option == known && meant(option, &ignored) == option)
			shown[count++] = option;
	}
	qsort(shown, count, sizeof(shown[0]), compare_names);
	for (size_t i = 0; i < count; i++)
		print_setting(settings, shown[i], type, out);
}

static int take(struct shell_settings *settings, const struct option *option, const char *value)
{
	if (shell_settings_find(option->name, strlen(option->name)))
		return shell_settings_set(settings, option, value);
	char *argument = settings->fixed[settings->fixed_count] = argument_of(option, value);
	settings->fixed_count += argument != NULL;
	return argument ? 0 : -ENOMEM;
}

int shell_settings_open(int argc, char **argv, struct shell_settings *out_settings)
{
	struct shell_settings settings = {
		.fixed = calloc((size_t)argc + 1, sizeof(*settings.fixed))};
	struct hi_options given = {.argc = argc, .argv = argv, .next = 1};
	int code, err = settings.fixed ? 0 : -ENOMEM;

	given.known = report_option_table_get(&given.letters);
	while (!err && (code = hi_options_next(&given)) != HI_OPTIONS_END) {
		const struct option *option = first_of(given.known, code);
		if (option)
			err = take(&settings, option, given.is_off ? "false" : given.value);
	}
	settings.file = argv + given.next;
	settings.file_count = (size_t)(argc - given.next);
	if (err)
		shell_settings_close(&settings);
	else
		*out_settings = settings;
	return err;
}

void shell_settings_close(struct shell_settings *settings)
{
	while (settings->count)
		free(settings->argument[--settings->count]);
	while (settings->fixed_count)
		free(settings->fixed[--settings->fixed_count]);
	free(settings->fixed);
	settings->fixed = NULL;
}
