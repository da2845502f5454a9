/* SPDX-License-Identifier: MIT */
/* pattern.c - see pattern.h. */
#include "pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *theirs, *ours;
} spellings[] = {{"(?:", "("}, {"\\d", "[0-9]"}, {"\\D", "[^0-9]"}};

static const char *put_spelling(const char *text, FILE *out)
{
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		const size_t length = strlen(spellings[i].theirs);

		if (strncmp(text, spellings[i].theirs, length) == 0) {
			fputs(spellings[i].ours, out);
			return text + length;
		}
	}
	fputc(*text, out);
	if (*text == '\\' && text[1]) /* an escaped character begins none of the spellings */
		fputc(*++text, out);
	return text + 1;
}

/* To be freed. NULL = out of memory. */
static char *as_posix(const char *text)
{
	char *copy = NULL;
	size_t size;
	FILE *out = open_memstream(&copy, &size);

	while (out && *text)
		text = put_spelling(text, out);
	if (!out || fclose(out)) {
		free(copy);
		return NULL;
	}
	return copy;
}

int pattern_open(struct pattern *pattern, const char *text, char complaint[PATTERN_COMPLAINT_MAX])
{
	const bool ignores_case = text && strncmp(text, "(?i)", 4) == 0;
	char *posix;
	int status;

	*pattern = (struct pattern){0};
	if (!text)
		return 0;
	posix = as_posix(text + (ignores_case ? 4 : 0));
	if (!posix)
		return -ENOMEM;
	status = regcomp(&pattern->regex, posix,
			 REG_EXTENDED | REG_NOSUB | (ignores_case ? REG_ICASE : 0));
	free(posix);
	if (status == REG_ESPACE)
		return -ENOMEM;
	if (status) {
		regerror(status, &pattern->regex, complaint, PATTERN_COMPLAINT_MAX);
		return -EINVAL;
	}
	pattern->is_set = true;
	return 0;
}

void pattern_close(struct pattern *pattern)
{
	if (pattern->is_set)
		regfree(&pattern->regex);
	*pattern = (struct pattern){0};
}

bool pattern_matches(const struct pattern *pattern, const char *text)
{
	return pattern->is_set && regexec(&pattern->regex, text ? text : "", 0, NULL, 0) == 0;
}

/*
 * The length of a name without parameters, as pprof's simplifyFunc() has it: up to the first
 * parenthesis that does not belong to these words. So of main.(*shop).add nothing is left but
 * "main.".
 */
static size_t length_without_parameters(const char *name)
{
	static const char *const words[] = {"(anonymous namespace)", "operator()"};
	const char *at = name;

	while (*at) {
		size_t skipped = 0;

		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			if (strncmp(at, words[i], strlen(words[i])) == 0)
				skipped = strlen(words[i]);
		}
		if (!skipped && *at == '(')
			break;
		at += skipped ? skipped : 1;
	}
	return (size_t)(at - name);
}

bool pattern_matches_function(const struct pattern *pattern, const char *name)
{
	const size_t length = length_without_parameters(name);
	char *copy;
	bool is_match;

	if (!name[length])
		return pattern_matches(pattern, name);
	copy = strndup(name, length);
	is_match = copy && pattern_matches(pattern, copy);
	free(copy);
	return is_match;
}

/* True if no text makes the expression cost much, in its length; else says what would. */
static bool is_bounded(const char *text, char complaint[PATTERN_COMPLAINT_MAX])
{
	const char *why = strlen(text) > PATTERN_FOREIGN_MAX ? "it is too long" : NULL;
	size_t depth = 0;

	for (; *text && !why; text++) {
		depth += *text == '(';
		depth -= *text == ')' && depth;
		if (depth > PATTERN_FOREIGN_DEPTH_MAX)
			why = "too many parentheses in each other";
		else if (*text == '{')
			why = "it repeats by a number";
		else if (*text == '\\' && text[1] >= '1' && text[1] <= '9')
			why = "it refers back";
		else if (*text == '\\' && text[1])
			text++;
	}
	if (why)
		snprintf(complaint, PATTERN_COMPLAINT_MAX, "%s", why);
	return !why;
}

int pattern_open_foreign(struct pattern *pattern, const char *text,
			 char complaint[PATTERN_COMPLAINT_MAX])
{
	*pattern = (struct pattern){0};
	return text && !is_bounded(text, complaint) ? -EINVAL
						    : pattern_open(pattern, text, complaint);
}
