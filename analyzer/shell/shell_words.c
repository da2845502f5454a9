/* SPDX-License-Identifier: MIT */
/*
 * shell_words.c - see shell_words.h.
 */
#include "shell_words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_space(char letter)
{
	return letter == ' ' || letter == '\t';
}

/* True for a backslash whose only effect is that the next character does not separate words. */
static bool is_escape(const char *at)
{
	return *at == '\\' && at[1] && strchr(" \t'\"", at[1]);
}

/* Takes one word from *at on and writes it to *to. False if a quote is not closed. */
static bool take_word(const char **at, char **to)
{
	char quote = 0;

	for (; **at && (quote || !is_space(**at)); (*at)++) {
		if (quote && **at == quote) {
			quote = 0;
		} else if (!quote && (**at == '\'' || **at == '"')) {
			quote = **at;
		} else {
			*at += !quote && is_escape(*at);
			*(*to)++ = **at;
		}
	}
	*(*to)++ = '\0';
	return !quote;
}

/* What other shells would append to or pipe: here it would be a file or a pattern of that name. */
static bool is_of_other_shells(const char *line, const char **out_complaint)
{
	if (strncmp(line, ">>", 2) == 0)
		*out_complaint = ">> is not known here: > FILE writes a file anew";
	else if (*line == '|' && (!line[1] || is_space(line[1])))
		*out_complaint =
			"there are no pipes here: top10 shows 10 rows, > FILE writes a file";
	else
		return false;
	return true;
}

static int split(const char *line, struct shell_words *words, const char **out_complaint)
{
	char *to = words->storage;
	bool is_output = false;

	for (;;) {
		line += strspn(line, " \t");
		if (!is_output && is_of_other_shells(line, out_complaint))
			return -EINVAL;
		if (*line == '>' && !is_output && !words->output) {
			is_output = true;
			line++;
			continue;
		}
		if (!*line)
			break;
		char *word = to;
		if (!take_word(&line, &to)) {
			*out_complaint = "a quote is not closed";
			return -EINVAL;
		}
		if (words->count == SHELL_WORDS_MAX - 1 && !is_output) {
			*out_complaint = "too many words";
			return -EINVAL;
		}
		if (is_output)
			words->output = word;
		else
			words->word[words->count++] = word;
		is_output = false;
	}
	if (is_output)
		*out_complaint = "> wants the name of a file";
	return is_output ? -EINVAL : 0;
}

int shell_words_split(const char *line, struct shell_words *out_words, const char **out_complaint)
{
	struct shell_words words = {.storage = malloc(2 * strlen(line) + 2)};
	int err = words.storage ? split(line, &words, out_complaint) : -ENOMEM;

	if (err)
		shell_words_close(&words);
	else
		*out_words = words;
	return err;
}

void shell_words_close(struct shell_words *words)
{
	free(words->storage);
	*words = (struct shell_words){0};
}

size_t shell_words_last(const char *line, char *out_quote)
{
	size_t start = 0;
	char quote = 0;

	for (const char *at = line; *at; at++) {
		if (quote && *at == quote) {
			quote = 0;
		} else if (!quote && (*at == '\'' || *at == '"')) {
			quote = *at;
			start = (size_t)(at - line) + 1;
		} else if (!quote && is_escape(at)) {
			at++;
		} else if (!quote && is_space(*at)) {
			start = (size_t)(at - line) + 1;
		}
	}
	*out_quote = quote;
	return start;
}
