/* SPDX-License-Identifier: MIT */
/* shell_assign.c - see shell_assign.h. */
#include "shell_assign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hi_options.h"
#include "report_option_table.h"

static void complain_of_option(const char *name, size_t size)
{
	struct hi_nearest nearest = {.typed = name, .size = size};
	const char *letters;

	for (const struct option *option = report_option_table_get(&letters); option->name;
	     option++) {
		if (shell_settings_find(option->name, strlen(option->name)))
			hi_nearest_look(&nearest, option->name);
	}
	shell_complain("no option that can be set here is called \"%.*s\"; %s%s%s", (int)size, name,
		       nearest.name ? "did you mean " : "help lists what there is",
		       nearest.name ? nearest.name : "", nearest.name ? "?" : "");
}

static void set(const struct shell_assign *assign, const struct option *option, const char *value)
{
	const char *kept = shell_settings_value(assign->settings, option);
	char *before = kept ? strdup(kept) : NULL;
	const int err = shell_settings_set(assign->settings, option, value);

	if (err)
		shell_complain("%s", err == -ENOMEM ? "out of memory" : "too many options are set");
	else if (!shell_view_is_right(&assign->view)) {
		shell_settings_unset(assign->settings, option);
		if (before)
			shell_settings_set(assign->settings, option, before);
	}
	free(before);
}

/* Joins the words to one text. */
static char *joined(const struct shell_words *words)
{
	size_t size = 1;

	for (size_t i = 0; i < words->count; i++)
		size += strlen(words->word[i]) + 1;
	char *text = calloc(size, 1), *to = text;
	for (size_t i = 0; text && i < words->count; i++)
		to += sprintf(to, "%s%s", i ? " " : "", words->word[i]);
	return text;
}

static void put(const struct shell_assign *assign, const char *name, size_t size, const char *value)
{
	const struct option *option = shell_settings_find(name, size);

	const bool is_switch = option && option->has_arg == no_argument;

	value += strspn(value, " ");
	if (!option)
		complain_of_option(name, size);
	else if (!*value || (is_switch && option->val != OPTION_TRIM &&
			     (strcmp(value, "false") == 0 || strcmp(value, "off") == 0)))
		shell_settings_unset(assign->settings, option);
	else
		set(assign, option, is_switch && strcmp(value, "true") == 0 ? NULL : value);
}

bool shell_assign_setting(const struct shell_assign *assign, const struct shell_words *words)
{
	char *text = joined(words);
	const size_t size = text ? strcspn(text, " =") : 0;
	const char *rest = text ? text + size + strspn(text + size, " ") : "";
	const struct option *option = text ? shell_settings_find(text, size) : NULL;
	bool is_setting = true;

	if (*rest == '=')
		put(assign, text, size, rest + 1);
	else if (option && words->count == 1 && option->has_arg == no_argument)
		set(assign, option, NULL);
	else if (option && option->has_arg == required_argument)
		shell_complain("%s wants a value: %s=VALUE", text, text);
	else
		is_setting = option && words->count == 1;
	free(text);
	return is_setting;
}

bool shell_assign_type(const struct shell_assign *assign, const struct shell_words *words)
{
	const char *word = words->word[0], *end = strchr(word, '_');
	const bool is_mean = strncmp(word, "mean_", 5) == 0;
	const struct option *mean = shell_settings_find("mean", strlen("mean"));
	enum sample_type type;

	if (words->count > 1 || (!is_mean && strncmp(word, "total_", 6) != 0) ||
	    !report_option_table_type_of(end + 1, &type))
		return false;
	set(assign, shell_settings_find("sample-index", strlen("sample-index")), end + 1);
	if (is_mean)
		set(assign, mean, NULL);
	else
		shell_settings_unset(assign->settings, mean);
	return true;
}
