/* SPDX-License-Identifier: MIT */
/* text_out_test.c - numbers as printf writes them, and names that leave a text format whole. */
#include "text_out.h"

#include <math.h>

#include "printable.h"
#include "unit.h"

static char text[4096];

static FILE *open_text(void)
{
	FILE *out = fmemopen(text, sizeof(text), "w");

	CHECK(out);
	return out;
}

UNIT_TEST(numbers)
{
	static const int64_t numbers[] = {
		0, 1, -1, 9, 10, -10, 99, 100, 1234567890, -1234567890123, INT64_MAX, INT64_MIN};
	char expected[64];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		FILE *out = open_text();

		text_number(numbers[i], out);
		putc(' ', out);
		text_count((uint64_t)numbers[i], out);
		fclose(out);
		snprintf(expected, sizeof(expected), "%" PRId64 " %" PRIu64, numbers[i],
			 (uint64_t)numbers[i]);
		CHECK_STR(text, expected);
	}
}

UNIT_TEST(json)
{
	FILE *out = open_text();

	text_json("\"a\\b\" and\nmore\"", out);
	text_json("", out);
	text_json("plain", out);
	text_json(NULL, out);
	fclose(out);
	CHECK_STR(text, "\"\\\"a\\\\b\\\" and?more\\\"\"\"\"\"plain\"null");
}

UNIT_TEST(what_misleads_is_replaced)
{
	FILE *out = open_text();

	text_plain("a\u202eb\u2066c\u2069d\u200ee\u200ff\u061cg\u2028h\u2029i", "", out);
	text_plain(" \u202f\u2026\u2065\u206a\u061b\u200d", "", out); /* what stays */
	fclose(out);
	CHECK_STR(text, "a???b???c???d???e???f?"
			"?g???h???i"
			" \u202f\u2026\u2065\u206a\u061b\u200d");
}

UNIT_TEST(control_characters_become_escapes)
{
	char *copy = printable_escaped("a\nb\tc\rd\001\177\xff\u202ez", 100);

	CHECK_STR(copy, "a\\nb\\tc\\rd\\x01\\x7f????z");
	free(copy);
	copy = printable_escaped("\n\n\n", 2);
	CHECK_STR(copy, "\\n\\n");
	free(copy);
}

UNIT_TEST(whole_numbers)
{
	CHECK_EQ(text_whole(2.5), 3);
	CHECK_EQ(text_whole(-2.5), -3);
	CHECK_EQ(text_whole((double)NAN), 0);
	CHECK_EQ(text_whole(1e300), INT64_C(1) << 62);
	CHECK_EQ(text_whole(-1e300), -(INT64_C(1) << 62));
}

UNIT_TEST(sums_do_not_overflow)
{
	CHECK_EQ(text_sum(2, -3), -1);
	CHECK_EQ(text_sum(INT64_MAX, INT64_MIN), -1);
	CHECK_EQ(text_sum(INT64_MAX, 1), INT64_MAX);
	CHECK_EQ(text_sum(INT64_MIN, -1), INT64_MIN);
}

UNIT_MAIN()
