/* SPDX-License-Identifier: MIT */
/*
 * shell_completion.c - see shell_completion.h.
 *
 * A function completes to a regular expression that matches its name: special characters get a
 * backslash.
 */
#include "shell_completion.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hi_options.h"
#include "hi_path.h"
#include "report_option_table.h"
#include "report_options.h"
#include "shell_settings.h"
#include "shell_words.h"

struct completing {
	const struct shell_completion *shell;
	const char *word; /* the typed part of the word */
	char quote;
	struct line_candidates *candidates;
};

static int offer(const struct completing *completing, const char *prefix, const char *name,
		 const char *suffix)
{
	char *text;
	int err = 0;

	if (asprintf(&text, "%s%s%s", prefix, name, suffix) < 0)
		return -ENOMEM;
	if (strncmp(text, completing->word, strlen(completing->word)) == 0)
		err = line_candidates_add(completing->candidates, text);
	free(text);
	return err;
}

static char *escaped(const char *name, char quote)
{
	char *text = malloc(2 * strlen(name) + 1), *to = text;

	for (; text && *name; name++) {
		if (strchr("\\[]{}()*+?^$|", *name) || (!quote && strchr(" '\"", *name)))
			*to++ = '\\';
		*to++ = *name;
	}
	if (text)
		*to = '\0';
	return text;
}

/* prefix: the part of the word before the name, as "focus=". */
static int offer_functions(const struct completing *completing, const char *prefix)
{
	const struct functions *functions = completing->shell->functions;
	int err = 0;

	for (size_t i = 0; i < functions->count && !err; i++) {
		char *name = escaped(functions->name[i], completing->quote);
		err = name ? offer(completing, prefix, name, "") : -ENOMEM;
		free(name);
	}
	return err;
}

static int offer_types(const struct completing *completing, const char *prefix)
{
	int err = 0;

	for (int type = 0; type < SAMPLE_TYPE_COUNT && !err; type++) {
		char name[64];
		snprintf(name, sizeof(name), "%s", report_option_table_type(type));
		for (char *dash = name; (dash = strchr(dash, '-'));)
			*dash = '_';
		err = offer(completing, prefix, name, "");
	}
	return err;
}

static int offer_settings(const struct completing *completing, const char *suffix)
{
	const char *letters;
	int err = 0;

	for (const struct option *option = report_option_table_get(&letters); option->name && !err;
	     option++) {
		if (shell_settings_find(option->name, strlen(option->name)) == option)
			err = offer(completing, "", option->name,
				    option->has_arg == required_argument ? suffix : "");
	}
	return err;
}

static int offer_commands(const struct completing *completing)
{
	int err = 0;

	for (const char *const *command = completing->shell->commands; *command && !err; command++)
		err = offer(completing, "", *command, "");
	for (const struct renderer *renderer = renderers; renderer->name && !err; renderer++)
		err = offer(completing, "", renderer->name, "");
	return err;
}

static int offer_options(const struct completing *completing)
{
	const char *letters;
	int err = 0;

	for (const struct option *option = report_option_table_get(&letters); option->name && !err;
	     option++)
		err = offer(completing, "--", option->name,
			    option->has_arg == required_argument ? "=" : "");
	return err;
}

static int offer_files(const struct completing *completing)
{
	const char *name = hi_base_name(completing->word);
	char *path = strndup(completing->word, (size_t)(name - completing->word));
	DIR *directory = path ? opendir(*path ? path : ".") : NULL;
	const struct dirent *entry;
	int err = path ? 0 : -ENOMEM;

	while (directory && !err && (entry = readdir(directory))) {
		if (entry->d_name[0] != '.' || name[0] == '.')
			err = offer(completing, path, entry->d_name,
				    entry->d_type == DT_DIR ? "/" : "");
	}
	if (directory)
		closedir(directory);
	free(path);
	return err;
}

/* Offers values for NAME=VALUE. */
static int offer_value(const struct completing *completing, const char *equals)
{
	char *prefix = strndup(completing->word, (size_t)(equals - completing->word) + 1);
	int err = prefix ? 0 : -ENOMEM;

	if (!err && hi_option_is("sample-index=", prefix, strlen(prefix)))
		err = offer_types(completing, prefix);
	else if (!err && strcmp(prefix + (strncmp(prefix, "--", 2) ? 0 : 2), "sort=") == 0)
		err = offer(completing, prefix, "flat", "") || offer(completing, prefix, "cum", "")
			      ? -ENOMEM
			      : 0;
	else if (!err)
		err = offer_functions(completing, prefix);
	free(prefix);
	return err;
}

static int complete_first(const struct completing *completing)
{
	int err = offer_commands(completing);

	if (!err)
		err = offer_settings(completing, "=");
	if (!err)
		err = offer_types(completing, "");
	return err ? err : offer(completing, "", "sample_index", "=");
}

/* True if the last character before the word is >, which names the output file. */
static bool is_output(const char *line, size_t start)
{
	while (start && (line[start - 1] == ' ' || line[start - 1] == '\t'))
		start--;
	return start && line[start - 1] == '>';
}

int shell_complete(void *context, const char *line, struct line_candidates *out_candidates)
{
	struct completing completing = {.shell = context, .candidates = out_candidates};
	const size_t lead = strspn(line, " \t"), command = strcspn(line + lead, " \t");
	size_t start = shell_words_last(line, &completing.quote);
	bool is_file = is_output(line, start);

	if (!is_file && !completing.quote && line[start] == '>') {
		is_file = true;
		start++;
	}
	out_candidates->start = start;
	completing.word = line + start;
	const char *equals = strchr(completing.word, '=');
	if (is_file)
		return offer_files(&completing);
	if (equals)
		return offer_value(&completing, equals);
	if (start == lead)
		return complete_first(&completing);
	if (strncmp(line + lead, "help", command) == 0 && command == 4)
		return offer_commands(&completing);
	if (strncmp(line + lead, "unset", command) == 0 && command == 5)
		return offer_settings(&completing, "");
	if (strncmp(completing.word, "--", 2) == 0)
		return offer_options(&completing);
	return offer_functions(&completing, "");
}
