/* SPDX-License-Identifier: MIT */
/*
 * shell_words.h - splits a line of the shell into words.
 *
 * Spaces separate words. Single or double quotes keep the text between them together; a backslash
 * before a space or a quote does the same for this character. Other backslashes are not changed,
 * because they belong to regular expressions. A word that begins with > names the output file: >
 * FILE or >FILE.
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

/* Returns 0; -EINVAL, with *out_complaint = what is wrong with the line; or -ENOMEM. */
int shell_words_split(const char *line, struct shell_words *out_words, const char **out_complaint);
void shell_words_close(struct shell_words *words);
/*
 * Returns the index where the last word of a line begins, which may be the line's end. *out_quote
 * is the quote that is open there, or 0.
 */
size_t shell_words_last(const char *line, char *out_quote);

#endif
