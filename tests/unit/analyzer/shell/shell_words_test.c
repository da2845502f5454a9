/* SPDX-License-Identifier: MIT */
/* shell_words_test.c - lines of the shell into words. */
#include "unit.h"

#include <errno.h>

#include "shell_words.h"

/* The words with | behind each, then the output. */
static void check_split(const char *line, const char *wanted)
{
	struct shell_words words;
	const char *complaint = NULL;
	char text[512] = "";

	CHECK_EQ(shell_words_split(line, &words, &complaint), 0);
	for (size_t i = 0; i < words.count; i++) {
		strcat(text, words.word[i]);
		strcat(text, "|");
	}
	if (words.output) {
		strcat(text, ">");
		strcat(text, words.output);
	}
	CHECK_STR(text, wanted);
	shell_words_close(&words);
}

static void check_wrong(const char *line)
{
	struct shell_words words;
	const char *complaint = NULL;

	CHECK_EQ(shell_words_split(line, &words, &complaint), -EINVAL);
	CHECK(complaint);
}

static void check_last(const char *line, const char *wanted, char wanted_quote)
{
	char quote;

	CHECK_STR(line + shell_words_last(line, &quote), wanted);
	CHECK_EQ(quote, wanted_quote);
}

UNIT_TEST(words)
{
	check_split("", "");
	check_split(" \t ", "");
	check_split("top 10  a.*b\t-c ", "top|10|a.*b|-c|");
	check_split("list 'operator new' \"x y\"z ''", "list|operator new|x yz||");
	check_split("list operator\\ new\\[\\] a\\'b c\\", "list|operator new\\[\\]|a'b|c\\|");
	check_split("list |b 'x |' '|'", "list||b|x ||||");
	check_split("list 'a\\ b'", "list|a\\ b|");
}

UNIT_TEST(output)
{
	check_split("svg > a.svg", "svg|>a.svg");
	check_split("svg >a.svg", "svg|>a.svg");
	check_split("svg > 'a b'", "svg|>a b");
	check_split("> a svg", "svg|>a");
	check_split("list operator>> 'operator>'", "list|operator>>|operator>|");
}

UNIT_TEST(wrong_lines)
{
	char many[2 * SHELL_WORDS_MAX + 8] = "";

	check_wrong("list 'a");
	check_wrong("list \"a");
	check_wrong("svg >");
	check_wrong("svg > ");
	check_wrong("top >> a.txt");
	check_wrong("top >>a.txt");
	check_wrong("top | head");
	for (size_t i = 0; i <= SHELL_WORDS_MAX; i++)
		strcat(many, "a ");
	check_wrong(many);
}

UNIT_TEST(the_last_word)
{
	check_last("", "", 0);
	check_last("lis", "lis", 0);
	check_last("list ", "", 0);
	check_last("list ab", "ab", 0);
	check_last("list operator\\ ne", "operator\\ ne", 0);
	check_last("list 'operator ne", "operator ne", '\'');
	check_last("list 'a b' c", "c", 0);
}

UNIT_MAIN()
