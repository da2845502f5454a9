/* SPDX-License-Identifier: MIT */
/* labels_test.c - sets of labels are stored once, in any profile, and are written as pprof does. */
#include "labels.h"

#include <string.h>

#include "merge.h"
#include "render_units.h"
#include "sample_profile.h"

UNIT_TEST(equal_sets_are_one)
{
	struct label_sets sets = {.set_count = 0};
	struct label one[] = {{.key = "a", .text = "1"}, {.key = "b", .number = 2, .unit = ""}},
		     same[] = {{.key = "b", .number = 2, .unit = ""}, {.key = "a", .text = "1"}},
		     other[] = {{.key = "a", .text = "1"}, {.key = "b", .number = 3, .unit = ""}},
		     unit[] = {{.key = "a", .text = "1"}, {.key = "b", .number = 2, .unit = "s"}};
	uint32_t first, number;

	CHECK_EQ(labels_add(&sets, one, 0, &number), 0);
	CHECK_EQ(number, 0);
	CHECK_EQ(labels_add(&sets, one, 2, &first), 0);
	CHECK(first != 0);
	CHECK_EQ(labels_add(&sets, same, 2, &number), 0);
	CHECK_EQ(number, first);
	CHECK_EQ(labels_add(&sets, other, 2, &number), 0);
	CHECK(number != first);
	CHECK_EQ(labels_add(&sets, unit, 2, &number), 0);
	CHECK(number != first);
	CHECK_EQ(labels_add(&sets, one, 1, &number), 0);
	CHECK(number != first);
	CHECK_EQ(labels_get(&sets, first)->count, 2);
	CHECK_STR(labels_get(&sets, first)->label[0].text, "1");
	CHECK_EQ(labels_get(&sets, 1000)->count, 0);
	CHECK_EQ(sets.text_count, 5); /* a, 1, b, "", s */
	labels_close(&sets);
}

UNIT_TEST(texts_are_cut_off)
{
	struct label_sets sets = {.set_count = 0};
	char text[2 * LABEL_TEXT_MAX];
	uint32_t number, same;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK_EQ(labels_add(&sets, &(struct label){.key = "a", .text = text}, 1, &number), 0);
	CHECK_EQ(strlen(labels_get(&sets, number)->label[0].text), LABEL_TEXT_MAX - 1);
	CHECK_EQ(labels_add(&sets, &(struct label){.key = "a", .text = text}, 1, &same), 0);
	CHECK_EQ(number, same);
	labels_close(&sets);
}

static void check_value(int64_t number, const char *unit, const char *want)
{
	const struct label label = {.key = "k", .number = number, .unit = unit};
	char text[LABEL_TEXT_MAX];

	CHECK_STR(labels_value(&label, render_size, text), want);
}

/* As go tool pprof -tags writes them. */
UNIT_TEST(values_have_their_unit)
{
	char text[LABEL_TEXT_MAX];

	CHECK_STR(labels_value(&(struct label){.text = "7"}, render_size, text), "7");
	check_value(1536, LABEL_BYTES, "1.50kB");
	check_value(7, "", "7");
	check_value(-7, "requests", "-7");
	check_value(1500, "ms", "1.50s");
	check_value(3600, "seconds", "1hrs");
	check_value(-20, "microseconds", "-20us");
	check_value(0, "s", "0");
	check_value(5, "ns us", "5");
}

/* Two profiles in which the same set has another number. */
UNIT_TEST(sets_are_merged)
{
	struct label red[] = {{.key = "color", .text = "red"}},
		     blue[] = {{.key = "color", .text = "blue"}};
	struct profile all = sample_open(), a = sample_open(), b = sample_open();

	sample_stack(&a, "main;f", 1, 100);
	sample_stack(&b, "main;f", 1, 100);
	sample_stack(&b, "main;g", 1, 100);
	CHECK_EQ(labels_add(&a.labels, red, 1, &a.row[0].key.labels), 0);
	CHECK_EQ(labels_add(&b.labels, blue, 1, &b.row[0].key.labels), 0);
	CHECK_EQ(labels_add(&b.labels, red, 1, &b.row[1].key.labels), 0);
	CHECK_EQ(profile_merge(&all, &a, PROFILE_NEW), 0);
	CHECK_EQ(profile_merge(&all, &b, PROFILE_NEW), 0);
	CHECK_EQ(profile_merge(&all, &a, PROFILE_NEW), 0);
	CHECK_EQ(all.row_count, 3);
	for (size_t i = 0; i < all.row_count; i++)
		CHECK_STR(labels_get(&all.labels, all.row[i].key.labels)->label[0].text,
			  i == 1 ? "blue" : "red");
	CHECK_EQ(all.row[0].inuse_bytes, 200);
	profile_close(&all);
	profile_close(&a);
	profile_close(&b);
}

UNIT_MAIN()
