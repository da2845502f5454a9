/* SPDX-License-Identifier: MIT */
/* units_test.c - sizes and times as users may write them, right and wrong. */
#include "hi_units.h"
#include "unit.h"

#define UNTOUCHED UINT64_C(0x5eed)

static void check_bytes(const char *text, int expected_error, uint64_t expected)
{
	uint64_t value = UNTOUCHED;

	CHECK_EQ(hi_parse_bytes(text, &value), expected_error);
	CHECK_EQ(value, expected_error ? UNTOUCHED : expected);
}

static void check_time(const char *text, int expected_error, uint64_t expected_ms)
{
	uint64_t value = UNTOUCHED;

	CHECK_EQ(hi_parse_time(text, &value), expected_error);
	CHECK_EQ(value, expected_error ? UNTOUCHED : expected_ms * 1000000);
}

UNIT_TEST(bytes_with_and_without_suffix)
{
	check_bytes("1", 0, 1);
	check_bytes("524288", 0, 524288);
	check_bytes("512K", 0, 524288);
	check_bytes("512k", 0, 524288);
	check_bytes("1M", 0, 1 << 20);
	check_bytes("1G", 0, 1 << 30);
	check_bytes("18446744073709551615", 0, UINT64_MAX);
}

UNIT_TEST(bytes_rejects_junk)
{
	static const char *const junk[] = {"",    "0",  "0K",   "K",    "-1",  "+1",  " 1",   "1 ",
					   "1KB", "1T", "0x10", "1.5M", "1K1", "1\n", "1\x0b"};

	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
		check_bytes(junk[i], -EINVAL, 0);
}

UNIT_TEST(bytes_rejects_overflow)
{
	check_bytes("18446744073709551616", -ERANGE, 0);
	check_bytes("99999999999999999999999", -ERANGE, 0);
	check_bytes("18014398509481984K", -ERANGE, 0);
	check_bytes("17179869184G", -ERANGE, 0);
	check_bytes("17179869183G", 0, UINT64_C(17179869183) << 30);
}

UNIT_TEST(percent)
{
	static const char *const junk[] = {"",     "%",      "x",   "0",  "0%", "0.00001%", "-1%",
					   "101%", "100.1%", "1%%", "1x", ".%", "1.23456%"};
	uint32_t ppm = 7;

	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
		CHECK(hi_parse_percent(junk[i], &ppm) != 0 && ppm == 7);
	CHECK(hi_parse_percent("1%", &ppm) == 0 && ppm == 10000);
	CHECK(hi_parse_percent("0.25", &ppm) == 0 && ppm == 2500);
	CHECK(hi_parse_percent(".5%", &ppm) == 0 && ppm == 5000);
	CHECK(hi_parse_percent("0.0001%", &ppm) == 0 && ppm == 1);
	CHECK(hi_parse_percent("100%", &ppm) == 0 && ppm == 1000000);
}

UNIT_TEST(bytes_print_like_pprof)
{
	static const struct {
		double bytes;
		const char *text;
	} cases[] = {
		{0, "0"},
		{0.001, "0"},
		{-0.001, "0"},
		{1, "1B"},
		{512, "512B"},
		{1023, "1023B"},
		{1024, "1kB"},
		{1536, "1.50kB"},
		{1048576, "1MB"},
		{1572864, "1.50MB"},
		{-1572864, "-1.50MB"},
		{3.25 * (1 << 30), "3.25GB"},
		{0x1p40, "1TB"},
		{0x1p60, "1024PB"},
	};
	char text[HI_UNITS_TEXT_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(hi_format_bytes(cases[i].bytes, text, sizeof(text)), cases[i].text);
}

UNIT_TEST(bytes_in_the_unit_of_others)
{
	char text[HI_UNITS_TEXT_MAX];

	CHECK_STR(hi_format_bytes_like(1100 << 10, 1000 << 10, text, sizeof(text)), "1100kB");
	CHECK_STR(hi_format_bytes_like(512, -(1 << 20), text, sizeof(text)), "0");
	CHECK_STR(hi_format_bytes_like(-(1 << 19), 1 << 20, text, sizeof(text)), "-0.50MB");
}

UNIT_TEST(formats_never_overrun)
{
	volatile size_t room = 3; /* hidden from the compiler, which would warn */
	char text[4] = "zzz";

	CHECK_STR(hi_format_bytes(1572864, text, room), "1.");
	CHECK_STR(hi_format_duration(3600, text, room), "1h");
	CHECK_STR(hi_format_ns(1.2e6, text, room), "1.");
	CHECK_EQ(text[3], 0);
}

UNIT_TEST(durations)
{
	static const struct {
		uint64_t seconds;
		const char *text;
	} cases[] = {{0, "0s"},          {45, "45s"},        {60, "1m00s"},       {125, "2m05s"},
		     {3600, "1h00m00s"}, {3630, "1h00m30s"}, {90061, "25h01m01s"}};
	char text[HI_UNITS_TEXT_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(hi_format_duration(cases[i].seconds, text, sizeof(text)), cases[i].text);
}

UNIT_TEST(times_in_nanoseconds)
{
	static const struct {
		double ns;
		const char *text;
	} cases[] = {{0, "0us"},
		     {499, "0us"},
		     {350e3, "350us"},
		     {1.2e6, "1.20ms"},
		     {999.99e6, "999.99ms"},
		     {3.4e9, "3.40s"},
		     {59.99e9, "59.99s"},
		     {60e9, "1m00s"},
		     {312.9e9, "5m12s"},
		     {1e30, "277777777h46m40s"}};
	char text[HI_UNITS_TEXT_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(hi_format_ns(cases[i].ns, text, sizeof(text)), cases[i].text);
}

UNIT_TEST(a_rate_that_would_have_fitted)
{
	char text[HI_UNITS_TEXT_MAX];
	uint64_t again;

	CHECK_EQ(hi_fitting_interval(1, 0, 1.0), 128);           /* 64 * 1.5 */
	CHECK_EQ(hi_fitting_interval(1, 1000, 0.5), 4096);       /* 3000 */
	CHECK_EQ(hi_fitting_interval(65536, 1000, 0.5), 262144); /* 196608 */
	CHECK_EQ(hi_fitting_interval(1, 0, 0), 128 << 10);
	CHECK_EQ(hi_fitting_interval(UINT64_C(1) << 45, 0, 0.5), UINT64_C(1) << 40);
	CHECK_STR(hi_format_rate(128, text, sizeof(text)), "128");
	CHECK_STR(hi_format_rate(4096, text, sizeof(text)), "4K");
	CHECK_STR(hi_format_rate(1 << 20, text, sizeof(text)), "1M");
	for (uint64_t interval = 1; interval <= UINT64_C(1) << 40; interval *= 2) {
		CHECK_EQ(hi_parse_bytes(hi_format_rate(interval, text, sizeof(text)), &again), 0);
		CHECK_EQ(again, interval);
	}
}

UNIT_TEST(times_with_and_without_units)
{
	check_time("120", 0, 120000);
	check_time("120s", 0, 120000);
	check_time("1.5", 0, 1500);
	check_time("1.5s", 0, 1500);
	check_time("500ms", 0, 500);
	check_time("0.5m", 0, 30000);
	check_time(".5", 0, 500);
	check_time(".5m", 0, 30000);
	check_time("2m", 0, 120000);
	check_time("1h", 0, 3600000);
	check_time("1h30m", 0, 5400000);
	check_time("1h2m3s4ms", 0, 3723004);
	check_time("0h1s", 0, 1000);
	check_time("18446744073s", 0, UINT64_C(18446744073000));
}

UNIT_TEST(times_reject_junk_and_overflow)
{
	static const char *const junk[] = {"",     "0",    "0s",    "s",     "-1s",  "1 s",
					   " 1",   "1x",   "1ss",   "1d",    "1.s",  ".s",
					   "1..5", "1h30", "30m1h", "1s1s",  "1,5s", "1e3",
					   "0.0s", "1ms5", "1\n",   "5m 3s", ".",    "..5"};

	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
		check_time(junk[i], -EINVAL, 0);
	check_time("18446744074s", -ERANGE, 0);
	check_time("99999999999999999999h", -ERANGE, 0);
	check_time("5124095h60m", -ERANGE, 0);
}

UNIT_MAIN()
