/* SPDX-License-Identifier: MIT */
/*
 * hi_units.h - sizes and times in the form in which people write them, parsed and printed the same
 * way everywhere.
 *
 * Header-only, so that injector and analyzer can share it without sharing objects. Parsers return
 * 0, or -EINVAL (junk, zero, negative), or -ERANGE (does not fit); on failure they leave *out
 * unchanged. Formatters always terminate and return their buffer.
 */
#ifndef HI_UNITS_H
#define HI_UNITS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HI_UNITS_TEXT_MAX 32u /* large enough for any formatted value */

/*
 * Decimal digits, at least one; *out_end is the first character after them. Unlike strtoull: no
 * sign, no space, no base prefix.
 */
static inline int hi_parse_digits(const char *text, uint64_t *out_value, const char **out_end)
{
	uint64_t value = 0;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return -ERANGE;
	}
	*out_value = value;
	*out_end = text;
	return 0;
}

/* The same of a number that may have a fraction: none in front of a point and a digit is 0, ".5".
 */
static inline int hi_parse_whole(const char *text, uint64_t *out_value, const char **out_end)
{
	if (text[0] != '.' || text[1] < '0' || text[1] > '9')
		return hi_parse_digits(text, out_value, out_end);
	*out_value = 0;
	*out_end = text;
	return 0;
}

/* "524288", "512K", "1M", "2G": powers of 1024, either case. */
static inline int hi_parse_bytes(const char *text, uint64_t *out_bytes)
{
	static const char suffixes[] = "KkMmGg";
	const char *end;
	uint64_t value;

	const int err = hi_parse_digits(text, &value, &end);
	if (err)
		return err;
	if (*end) {
		const char *suffix = strchr(suffixes, *end);
		if (!suffix || end[1])
			return -EINVAL;
		if (__builtin_mul_overflow(value, UINT64_C(1024) << ((suffix - suffixes) / 2 * 10),
					   &value))
			return -ERANGE;
	}
	if (value == 0)
		return -EINVAL;
	*out_bytes = value;
	return 0;
}

/*
 * The unit at *text, which is moved behind it, in nanoseconds. A number that stands alone is in
 * seconds. 0 = there is none.
 */
static inline uint64_t hi_parse_time_unit(const char **text, bool is_first)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t size = strlen(units[i].name);
		if (strncmp(*text, units[i].name, size) == 0) {
			*text += size;
			return units[i].ns;
		}
	}
	return is_first && !**text ? 1000000000 : 0;
}

/*
 * "120", "120s", "500ms", "1.5s", "2m", "1h30m", in nanoseconds: numbers with units, the largest
 * first, each with up to nine digits after a point.
 */
static inline int hi_parse_time(const char *text, uint64_t *out_ns)
{
	uint64_t sum = 0, last = UINT64_MAX;

	for (const char *at = text; at == text || *at;) {
		const bool is_first = at == text;
		uint64_t value, fraction = 0, whole = 1;
		const int err = hi_parse_whole(at, &value, &at);
		if (err)
			return err;
		if (*at == '.') {
			for (at++; *at >= '0' && *at <= '9' && whole < 1000000000; at++) {
				fraction = fraction * 10 + (uint64_t)(*at - '0');
				whole *= 10;
			}
			if (whole == 1)
				return -EINVAL;
		}
		const uint64_t unit = hi_parse_time_unit(&at, is_first);
		if (!unit || unit >= last)
			return -EINVAL;
		last = unit;
		if (__builtin_mul_overflow(value, unit, &value) ||
		    __builtin_add_overflow(
			    value,
			    (uint64_t)((double)fraction / (double)whole * (double)unit + 0.5),
			    &value) ||
		    __builtin_add_overflow(sum, value, &sum))
			return -ERANGE;
	}
	if (sum == 0)
		return -EINVAL;
	*out_ns = sum;
	return 0;
}

/*
 * "1%", "0.25%", "3": percent, with up to four digits after the point, as millionths. At most 100%.
 */
static inline int hi_parse_percent(const char *text, uint32_t *out_ppm)
{
	uint64_t value, ppm, digit = 1000;
	const char *end;

	const int err = hi_parse_whole(text, &value, &end);
	if (err)
		return err;
	if (value > 100)
		return -ERANGE;
	ppm = value * 10000;
	if (*end == '.') {
		for (end++; *end >= '0' && *end <= '9' && digit; end++, digit /= 10)
			ppm += (uint64_t)(*end - '0') * digit;
	}
	if (*end == '%')
		end++;
	if (*end || ppm == 0)
		return -EINVAL;
	if (ppm > 1000000)
		return -ERANGE;
	*out_ppm = (uint32_t)ppm;
	return 0;
}

/*
 * "0", "512B", "1.50MB", "2GB": the style of pprof, so that figures can be compared by eye; units
 * are powers of 1024. The unit is that of `like`, so that figures which belong together have one.
 */
static inline char *hi_format_bytes_like(double bytes, double like, char *text, size_t size)
{
	static const char units[][3] = {"B", "kB", "MB", "GB", "TB", "PB"};
	const double magnitude = like < 0 ? -like : like;
	size_t unit = 0;
	double scale = 1;

	while (unit + 1 < sizeof(units) / sizeof(units[0]) && magnitude >= scale * 1024) {
		scale *= 1024;
		unit++;
	}
	snprintf(text, size, "%.2f", bytes / scale);
	char *fraction = strstr(text, ".00");
	if (fraction)
		*fraction = 0;
	if (strcmp(text, "0") == 0 || strcmp(text, "-0") == 0)
		snprintf(text, size, "0");
	else
		strncat(text, units[unit], size - strlen(text) - 1);
	return text;
}

static inline char *hi_format_bytes(double bytes, char *text, size_t size)
{
	return hi_format_bytes_like(bytes, bytes, text, size);
}

/* "45s", "2m05s", "1h00m30s". */
static inline char *hi_format_duration(uint64_t seconds, char *text, size_t size)
{
	const unsigned long long hours = seconds / 3600, minutes = seconds / 60 % 60,
				 rest = seconds % 60;

	if (hours)
		snprintf(text, size, "%lluh%02llum%02llus", hours, minutes, rest);
	else if (minutes)
		snprintf(text, size, "%llum%02llus", minutes, rest);
	else
		snprintf(text, size, "%llus", rest);
	return text;
}

/* "350us", "1.20ms", "3.40s"; from a minute on as hi_format_duration, at most 10^12 seconds. */
static inline char *hi_format_ns(double ns, char *text, size_t size)
{
	if (ns < 1e6)
		snprintf(text, size, "%.0fus", ns / 1e3);
	else if (ns < 1e9)
		snprintf(text, size, "%.2fms", ns / 1e6);
	else if (ns < 60e9)
		snprintf(text, size, "%.2fs", ns / 1e9);
	else
		hi_format_duration((uint64_t)(ns < 1e21 ? ns / 1e9 : 1e12), text, size);
	return text;
}

/* Whole seconds as hi_format_duration, others as hi_format_ns. */
static inline char *hi_format_time(uint64_t ns, char *text, size_t size)
{
	return ns % 1000000000 ? hi_format_ns((double)ns, text, size)
			       : hi_format_duration(ns / 1000000000, text, size);
}

/* A power of two as hi_parse_bytes reads it: "64", "64K", "1M". */
static inline const char *hi_format_rate(uint64_t interval, char *buffer, size_t size)
{
	static const char suffixes[] = {0, 'K', 'M', 'G'};
	unsigned steps = 0;

	while (interval >= 1024 && interval % 1024 == 0 && steps < 3) {
		interval /= 1024;
		steps++;
	}
	snprintf(buffer, size, steps ? "%llu%c" : "%llu", (unsigned long long)interval,
		 suffixes[steps]);
	return buffer;
}

/*
 * The sampling interval that would have been suitable when only `share` of the events found room.
 * It is larger than `interval` by such a factor that one and a half times the events would find
 * room, rounded up to a power of two. Below the size of a block a larger interval gives no fewer
 * samples, so the computation starts at that size at least. block_bytes: the mean size of a block,
 * or 0 if it is not known.
 */
static inline uint64_t hi_fitting_interval(uint64_t interval, uint64_t block_bytes, double share)
{
	const uint64_t from = block_bytes ? block_bytes : 64;
	const double wanted =
		(double)(interval > from ? interval : from) * 1.5 / (share > 0.001 ? share : 0.001);
	uint64_t fitting = 1;

	while ((double)fitting < wanted && fitting < UINT64_C(1) << 40)
		fitting *= 2;
	return fitting;
}

#endif
