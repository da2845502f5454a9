/* SPDX-License-Identifier: MIT */
/*
 * hi_options.h - options of the command line, by the tables of getopt_long(), but not by its rules.
 *
 * A name is understood as a whole or not at all, after one dash or two, with _ for - (as pprof has
 * them). An option without an argument takes =true and =false. A letter's value may follow at once
 * only if it does not begin with a letter: "-n20", "-o/tmp/x", "-o=x", but not "-output.svg". Other
 * letters can be in one word: "-qv".
 *
 * Header-only, so that cmd and analyzer can share it.
 */
#ifndef HI_OPTIONS_H
#define HI_OPTIONS_H

#include <ctype.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define HI_OPTION_NAME_MAX 40u /* longer names are near to nothing */
#define HI_OPTION_COMPLAINT_MAX 512u

/* What hi_options_next() returns besides the values of the table. */
enum { HI_OPTIONS_END = -1, HI_OPTION_UNKNOWN = '?', HI_OPTION_BARE = ':', HI_OPTION_ODD = '!' };

struct hi_options {
	int argc;
	char **argv;
	const struct option *known; /* the last one has no name */
	const char *letters;        /* in the format of getopt(), without a colon at its start */
	bool in_order;              /* the first word that is no option ends them */
	int next;                   /* the word to be read next; starts at 1 */
	int others;                 /* words before it that are no options, moved behind them */
	const char *cluster;        /* the rest of a word of letters */
	/* the option that was read last */
	const char *word;  /* as it was written */
	const char *value; /* NULL for an option without an argument */
	bool is_off;       /* an option without an argument that was given as =false */
};

/* ---- names ----------------------------------------------------------------------------------- */

static inline bool hi_option_same(char one, char other)
{
	return (one == '_' ? '-' : one) == (other == '_' ? '-' : other);
}

static inline bool hi_option_is(const char *name, const char *typed, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!name[i] || !hi_option_same(name[i], typed[i]))
			return false;
	}
	return name[size] == '\0';
}

static inline const struct option *hi_option_find(const struct option *known, const char *typed,
						  size_t size)
{
	for (; known->name; known++) {
		if (hi_option_is(known->name, typed, size))
			return known;
	}
	return NULL;
}

/*
 * How many letters have to be inserted, removed, replaced, or exchanged with their neighbour, to
 * make one name the other.
 */
static inline size_t hi_option_distance(const char *typed, size_t size, const char *name)
{
	const size_t length = strlen(name);
	size_t row[3][HI_OPTION_NAME_MAX + 1], *two = row[0], *one = row[1], *now = row[2];

	if (size > HI_OPTION_NAME_MAX || length > HI_OPTION_NAME_MAX)
		return HI_OPTION_NAME_MAX;
	for (size_t k = 0; k <= length; k++)
		two[k] = one[k] = k;
	for (size_t i = 1; i <= size; i++) {
		now[0] = i;
		for (size_t k = 1; k <= length; k++) {
			const bool is_same = hi_option_same(typed[i - 1], name[k - 1]);
			size_t best = one[k - 1] + !is_same;
			if (one[k] + 1 < best)
				best = one[k] + 1;
			if (now[k - 1] + 1 < best)
				best = now[k - 1] + 1;
			if (i > 1 && k > 1 && hi_option_same(typed[i - 1], name[k - 2]) &&
			    hi_option_same(typed[i - 2], name[k - 1]) && two[k - 2] + 1 < best)
				best = two[k - 2] + 1;
			now[k] = best;
		}
		size_t *const free_row = two;
		two = one;
		one = now;
		now = free_row;
	}
	return one[length];
}

/* The name that is nearest to what was typed, of those that were looked at. */
struct hi_nearest {
	const char *typed;
	size_t size;
	const char *name; /* NULL = none is near */
	size_t distance;
};

static inline void hi_nearest_look(struct hi_nearest *nearest, const char *name)
{
	const size_t size = nearest->size, far = size < 3 ? 0 : size < 6 ? 1 : size < 10 ? 2 : 3;
	size_t distance = hi_option_distance(nearest->typed, size, name), same = 0;

	while (same < size && name[same] && hi_option_same(name[same], nearest->typed[same]))
		same++;
	/* An abbreviation is near, but not as near as a slip. */
	if (distance > far && same == size && size > 1)
		distance = far + 1;
	else if (distance > far)
		return;
	if (!nearest->name || distance < nearest->distance) {
		nearest->name = name;
		nearest->distance = distance;
	}
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Moves the words from `first` on, up to the next word, in front of those that are no options. */
static inline void hi_options_move(struct hi_options *options, int first)
{
	for (int i = first; options->others && i < options->next; i++) {
		char *const word = options->argv[i];
		memmove(options->argv + i - options->others + 1,
			options->argv + i - options->others,
			(size_t)options->others * sizeof(word));
		options->argv[i - options->others] = word;
	}
}

static inline const char *hi_options_letter(const struct hi_options *options, char letter)
{
	return letter == ':' ? NULL : strchr(options->letters, letter);
}

/* True if the word, after its dash, is letters without values, or one letter and its value. */
static inline bool hi_options_is_cluster(const struct hi_options *options, const char *word)
{
	const char *letter = hi_options_letter(options, *word);

	if (letter && letter[1] == ':')
		return !isalpha((unsigned char)word[1]);
	while (letter && letter[1] != ':' && *++word)
		letter = hi_options_letter(options, *word);
	return letter && letter[1] != ':';
}

static inline int hi_options_take_next(struct hi_options *options, int code)
{
	if (options->next == options->argc)
		return HI_OPTION_BARE;
	options->value = options->argv[options->next++];
	return code;
}

static inline int hi_options_read_letter(struct hi_options *options)
{
	const char letter = *options->cluster++;
	const bool takes_value = hi_options_letter(options, letter)[1] == ':';
	const char *rest = options->cluster;

	if (takes_value || !*rest)
		options->cluster = NULL;
	if (!takes_value)
		return letter;
	if (!*rest)
		return hi_options_take_next(options, letter);
	options->value = rest + (*rest == '=');
	return letter;
}

static inline int hi_options_read_switch(struct hi_options *options, const struct option *option,
					 const char *value)
{
	static const char *const words[] = {"false", "f", "0", "no",  "off",
					    "true",  "t", "1", "yes", "on"};
	const size_t count = sizeof(words) / sizeof(words[0]);

	for (size_t i = 0; i < count; i++) {
		if (strcasecmp(value, words[i]) == 0) {
			options->is_off = i < count / 2;
			return option->val;
		}
	}
	return HI_OPTION_ODD;
}

static inline int hi_options_read_word(struct hi_options *options)
{
	const char *name = options->word + 1 + (options->word[1] == '-');
	const size_t size = strcspn(name, "=");
	const struct option *option = size > 1 ? hi_option_find(options->known, name, size) : NULL;

	if (option && option->has_arg == required_argument && name[size]) {
		options->value = name + size + 1;
		return option->val;
	}
	if (option && option->has_arg == required_argument)
		return hi_options_take_next(options, option->val);
	if (option && name[size])
		return hi_options_read_switch(options, option, name + size + 1);
	if (option)
		return option->val;
	if (options->word[1] == '-' || !hi_options_is_cluster(options, options->word + 1))
		return HI_OPTION_UNKNOWN;
	options->cluster = options->word + 1;
	return hi_options_read_letter(options);
}

/*
 * Reads the next option, wherever it is among the words; its code, or one of the codes above. At
 * the end the words that are no options are argv[next] to argv[argc - 1], in their order.
 */
static inline int hi_options_next(struct hi_options *options)
{
	int code = HI_OPTIONS_END;

	options->value = NULL;
	options->is_off = false;
	while (!options->cluster && !options->in_order && options->next < options->argc &&
	       (options->argv[options->next][0] != '-' || !options->argv[options->next][1])) {
		options->next++;
		options->others++;
	}
	const int first = options->next;
	if (options->cluster) {
		code = hi_options_read_letter(options);
	} else if (first < options->argc && options->argv[first][0] == '-' &&
		   options->argv[first][1]) {
		options->word = options->argv[options->next++];
		if (strcmp(options->word, "--") != 0)
			code = hi_options_read_word(options);
	}
	hi_options_move(options, first);
	if (code == HI_OPTIONS_END) {
		options->next -= options->others;
		options->others = 0;
	}
	return code;
}

/* Says what is wrong about the word that was read last, for these three codes. Returns text. */
static inline const char *hi_options_explain(const struct hi_options *options, int code,
					     char text[HI_OPTION_COMPLAINT_MAX])
{
	const char *word = options->word, *name = word + 1 + (word[1] == '-');
	struct hi_nearest nearest = {.typed = name, .size = strcspn(name, "=")};

	if (code == HI_OPTION_BARE || code == HI_OPTION_ODD) {
		snprintf(text, HI_OPTION_COMPLAINT_MAX,
			 code == HI_OPTION_BARE ? "an option lacks its value: %s"
						: "neither true nor false: %s",
			 word);
		return text;
	}
	for (const struct option *option = options->known; option->name; option++)
		hi_nearest_look(&nearest, option->name);
	const char *letter = hi_options_letter(options, word[1]);
	if (nearest.name)
		snprintf(text, HI_OPTION_COMPLAINT_MAX, "unknown option: %s (did you mean %.*s%s?)",
			 word, (int)(name - word), word, nearest.name);
	else if (letter && letter[1] == ':')
		snprintf(text, HI_OPTION_COMPLAINT_MAX, "unknown option: %s (did you mean -%c %s?)",
			 word, *letter, word + 2);
	else
		snprintf(text, HI_OPTION_COMPLAINT_MAX, "unknown option: %s", word);
	return text;
}

#endif
