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

/* Options that are used while files are read, or that the shell sets by other means. */
static const char *const unsettable[] = {"help", "output", "binary", "base", "diff-base"};

static bool is_type(const char *name)
{
	for (int type = 0; type < SAMPLE_TYPE_COUNT; type++) {
		if (strcmp(report_option_table_type(type), name) == 0)
			return true;
	}
	return false;
}

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

static bool is_of(const char *argument, const char *name)
{
	const size_t size = strlen(name);

	return strncmp(argument + 2, name, size) == 0 &&
	       (argument[2 + size] == '=' || argument[2 + size] == '\0');
}

static void remove_at(struct shell_settings *settings, size_t index)
{
	free(settings->argument[index]);
	settings->count--;
	memmove(&settings->argument[index], &settings->argument[index + 1],
		(settings->count - index) * sizeof(settings->argument[0]));
}

bool shell_settings_unset(struct shell_settings *settings, const struct option *option)
{
	for (size_t i = 0; i < settings->count; i++) {
		if (is_of(settings->argument[i], option->name) ||
		    (option->val == OPTION_SAMPLE_INDEX && is_type(settings->argument[i] + 2))) {
			remove_at(settings, i);
			return true;
		}
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
	enum sample_type type;

	if (option->val == OPTION_SAMPLE_INDEX && report_option_table_type_of(value, &type)) {
		const char *name = report_option_table_type(type);
		return shell_settings_set(settings, shell_settings_find(name, strlen(name)), NULL);
	}
	char *argument = argument_of(option, value);
	if (!argument)
		return -ENOMEM;
	shell_settings_unset(settings, option);
	for (size_t i = settings->count; is_type(option->name) && i-- > 0;) {
		if (is_type(settings->argument[i] + 2))
			remove_at(settings, i);
	}
	if (settings->count == SHELL_SETTINGS_MAX) {
		free(argument);
		return -ENOSPC;
	}
	settings->argument[settings->count++] = argument;
	return 0;
}

void shell_settings_print(const struct shell_settings *settings, FILE *out)
{
	for (size_t i = 0; i < settings->count; i++)
		fprintf(out, "%s\n", settings->argument[i] + 2);
	if (settings->count == 0)
		fprintf(out, "Nothing is set.\n");
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
