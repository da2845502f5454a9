/* SPDX-License-Identifier: MIT */
/*
 * shell_words.h - a line of the shell taken apart into words.
 *
 * Words are divided by spaces. Quotes, single or double, keep what is between them together; so does a backslash before a space or a quote. Other backslashes
 * stay, as they belong to regular expressions. A word that begins with > says where the output goes: > FILE or >FILE.
 */
#ifndef HI_SHELL_WORDS_H
#define HI_SHELL_WORDS_H

#include <stddef.h>

#define SHELL_WORDS_MAX 256u

struct shell_words {
	char *word[SHELL_WORDS_MAX];
	size_t count;
	char *output; /* NULL = standard output */
	char *storage;
};

/* 0; -EINVAL with *out_complaint, what is wrong with the line; -ENOMEM. */
int shell_words_split(const char *line, struct shell_words *out_words, const char **out_complaint);
void shell_words_close(struct shell_words *words);
/* Where the last word of a line begins, which may be its end, and the quote that is open there or 0. */
size_t shell_words_last(const char *line, char *out_quote);

#endif
