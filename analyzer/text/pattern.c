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
