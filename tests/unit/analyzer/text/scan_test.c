/* SPDX-License-Identifier: MIT */
/* scan_test.c - numbers out of text: what is one, where it ends, and what is too large. */
#include "scan.h"

#include "unit.h"

static void check_number(const char *text, int base, uint64_t number, const char *rest)
{
	const char *cursor = text;
	uint64_t got = 1234567;

	CHECK(scan_number(&cursor, base, &got));
	CHECK_EQ(got, number);
	CHECK_STR(cursor, rest);
}

static void check_none(const char *text, int base)
{
	const char *cursor = text;
	uint64_t got = 1234567;

	CHECK(!scan_number(&cursor, base, &got));
	CHECK_EQ(got, 1234567);
	CHECK(cursor == text);
}

UNIT_TEST(decimal)
{
	check_number("0", 10, 0, "");
	check_number("0042:7", 10, 42, ":7");
	check_number("12a", 10, 12, "a");
	check_number("18446744073709551615 ", 10, UINT64_MAX, " ");
	check_none("18446744073709551616", 10);
	check_none("99999999999999999999", 10);
	check_none("a", 10);
}

UNIT_TEST(hexadecimal)
{
	check_number("7fFe-", 16, 0x7ffe, "-");
	check_number("0x55D0c0ffee00 0x1", 16, 0x55d0c0ffee00, " 0x1");
	check_number("0X1", 16, 1, "");
	check_number("0xg", 16, 0, "xg");
	check_number("ffffffffffffffff", 16, UINT64_MAX, "");
	check_number("00000000000000000001", 16, 1, "");
	check_none("10000000000000000", 16);
	check_none("g", 16);
	check_none("@", 16); /* what letters differ from by a bit */
	check_none("`", 16);
}

UNIT_TEST(what_is_no_number)
{
	static const char *const texts[] = {"", " 1", "-1", "+1", "x1", "\xe1", ":", "/"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		check_none(texts[i], 10);
		check_none(texts[i], 16);
	}
}

UNIT_TEST(characters)
{
	const char *cursor = "  [x";

	skip_spaces(&cursor);
	CHECK(!scan_char(&cursor, 'x'));
	CHECK(scan_char(&cursor, '['));
	skip_spaces(&cursor);
	CHECK_STR(cursor, "x");
}

UNIT_MAIN()
