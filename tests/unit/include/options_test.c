/* SPDX-License-Identifier: MIT */
/* options_test.c - words of a command line as options, in all ways to write them, and as none. */
#include "hi_options.h"
#include "unit.h"

#define WORDS_MAX 16

static const struct option known[] = {
	{"output", required_argument, NULL, 'o'},    {"top", no_argument, NULL, 'T'},
	{"show-from", required_argument, NULL, 'F'}, {"trim", no_argument, NULL, 'M'},
	{"quiet", no_argument, NULL, 'q'},           {NULL, 0, NULL, 0},
};

/*
 * What is read of words that are separated by blanks: "o(x) !M q | file": the codes with their
 * values, ! before what is off, and behind a bar what is no option.
 */
static const char *read_words_of(struct hi_options given, const char *line)
{
	static char copy[256], text[256];
	static char name[] = "name";
	char *argv[WORDS_MAX] = {name}, *rest = NULL;
	size_t used = 0;
	int code;

	given.argv = argv;
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[given.argc++] = word;
	text[0] = 0;
	while ((code = hi_options_next(&given)) != HI_OPTIONS_END) {
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, given.value ? "%s%c(%s) " : "%s%c ",
			given.is_off ? "!" : "", code, given.value ? given.value : "");
		if (code == HI_OPTION_UNKNOWN || code == HI_OPTION_BARE || code == HI_OPTION_ODD)
			return text;
	}
	used += (size_t)snprintf(text + used, sizeof(text) - used, "|");
	for (int i = given.next; i < given.argc; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " %s", argv[i]);
	return text;
}

static const char *read_words(const char *line)
{
	return read_words_of(
		(struct hi_options){.argc = 1, .known = known, .letters = "o:qv", .next = 1}, line);
}

/* As of a command that is followed by another program's. */
static const char *read_in_order(const char *line)
{
	return read_words_of(
		(struct hi_options){
			.argc = 1, .known = known, .letters = "o:qv", .in_order = true, .next = 1},
		line);
}

static const char *explain(char *word)
{
	static char text[HI_OPTION_COMPLAINT_MAX];
	char name[] = "name", *argv[] = {name, word};
	struct hi_options given = {
		.argc = 2, .argv = argv, .known = known, .letters = "o:qv", .next = 1};
	const int code = hi_options_next(&given);

	return hi_options_explain(&given, code, text);
}

UNIT_TEST(a_name_after_one_dash_or_two)
{
	CHECK_STR(read_words("-top --top"), "T T |");
	CHECK_STR(read_words("-output=x --output=y -output z --output w"), "o(x) o(y) o(z) o(w) |");
	CHECK_STR(read_words("-output= --output=a=b"), "o() o(a=b) |");
	CHECK_STR(read_words("-show_from=x --show-from y --show_from z"), "F(x) F(y) F(z) |");
	CHECK_STR(read_words("-output -top"), "o(-top) |");
}

UNIT_TEST(letters)
{
	CHECK_STR(read_words("-qv -q -o x -o/y -o=z -o5 -o-"), "q v q o(x) o(/y) o(z) o(5) o(-) |");
	CHECK_STR(read_words("-v -"), "v | -");
}

UNIT_TEST(switches)
{
	CHECK_STR(read_words("--trim=false -trim=0 -trim=no -quiet=off"), "!M !M !M !q |");
	CHECK_STR(read_words("--trim=true -trim=T -trim=1 -quiet=yes -top"), "M M M q T |");
	CHECK_STR(read_words("--trim=maybe"), "! ");
	CHECK_STR(read_words("--trim="), "! ");
}

UNIT_TEST(what_is_no_option_comes_last_in_its_order)
{
	CHECK_STR(read_words("a -top b -output c d -q e"), "T o(c) q | a b d e");
	CHECK_STR(read_words("a -q -- -top b"), "q | a -top b");
	CHECK_STR(read_words("a b c"), "| a b c");
	CHECK_STR(read_words("a -qv b"), "q v | a b");
	CHECK_STR(read_words(""), "|");
}

UNIT_TEST(nothing_is_guessed)
{
	static const char *const wrong[] = {
		"--to", "-outpu=x", "--Top", "-ox", "-outptu=z.txt", "-qx",       "-qox",
		"-z",   "---top",   "--q",   "-qo", "--=x",          "--topology"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK_STR(read_words(wrong[i]), "? ");
	CHECK_STR(read_words("--output"), ": ");
	CHECK_STR(read_words("-o"), ": ");
}

UNIT_TEST(the_nearest_name)
{
	CHECK_STR(explain((char[]){"-tpo"}), "unknown option: -tpo (did you mean -top?)");
	CHECK_STR(explain((char[]){"--ouptut=x"}),
		  "unknown option: --ouptut=x (did you mean --output?)");
	CHECK_STR(explain((char[]){"--show"}),
		  "unknown option: --show (did you mean --show-from?)");
	CHECK_STR(explain((char[]){"--show_form"}),
		  "unknown option: --show_form (did you mean --show-from?)");
	CHECK_STR(explain((char[]){"-oz.txt"}), "unknown option: -oz.txt (did you mean -o z.txt?)");
	CHECK_STR(explain((char[]){"--nonsense"}), "unknown option: --nonsense");
	CHECK_STR(explain((char[]){"-z"}), "unknown option: -z");
	CHECK_STR(explain((char[]){"--output"}), "an option lacks its value: --output");
	CHECK_STR(explain((char[]){"--trim=x"}), "neither true nor false: --trim=x");
	CHECK_STR(explain((char[]){"--a-name-that-is-longer-than-any-that-there-may-ever-be"}),
		  "unknown option: --a-name-that-is-longer-than-any-that-there-may-ever-be");
}

UNIT_MAIN()

UNIT_TEST(in_order_the_first_word_ends_the_options)
{
	CHECK_STR(read_in_order("-q program -v --top"), "q | program -v --top");
	CHECK_STR(read_in_order("-o x program -q"), "o(x) | program -q");
	CHECK_STR(read_in_order("-q -- -v x"), "q | -v x");
	CHECK_STR(read_in_order("-qv - -q"), "q v | - -q");
	CHECK_STR(read_in_order("-q -- -- x"), "q | -- x");
	CHECK_STR(read_in_order("program -- x"), "| program -- x");
	CHECK_STR(read_in_order(""), "|");
}
