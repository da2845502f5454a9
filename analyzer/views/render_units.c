/* SPDX-License-Identifier: MIT */
/* render_units.c - see render_units.h. */
#include "render_units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "hi_units.h"

enum render_unit { UNIT_AUTO, UNIT_B, UNIT_KB, UNIT_MB, UNIT_GB, UNIT_TB, UNIT_MINIMUM };

/* A global setting, because sizes are written in many places and must all have the same unit. */
static enum render_unit unit = UNIT_AUTO;
static enum render_unit fitted = UNIT_AUTO; /* of "minimum" */
static const char *const unit_names[] = {
	[UNIT_B] = "B", [UNIT_KB] = "kB", [UNIT_MB] = "MB", [UNIT_GB] = "GB", [UNIT_TB] = "TB"};

int render_use_unit(const char *name)
{
	static const char *const words[][4] = {
		[UNIT_AUTO] = {"auto", "auto", "auto", "auto"},
		[UNIT_MINIMUM] = {"minimum", "minimum", "minimum", "minimum"},
		[UNIT_B] = {"b", "byte", "bytes", "b"},
		[UNIT_KB] = {"kb", "kbyte", "kilobyte", "kilobytes"},
		[UNIT_MB] = {"mb", "mbyte", "megabyte", "megabytes"},
		[UNIT_GB] = {"gb", "gbyte", "gigabyte", "gigabytes"},
		[UNIT_TB] = {"tb", "tbyte", "terabyte", "terabytes"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (size_t k = 0; k < sizeof(words[i]) / sizeof(words[i][0]); k++) {
			if (strcasecmp(name, words[i][k]) == 0) {
				unit = (enum render_unit)i;
				fitted = UNIT_AUTO;
				return 0;
			}
		}
	}
	return -EINVAL;
}

static double divisor = 1;

void render_divide_by(double by)
{
	divisor = by;
}

/* The unit in which a size is a number from 1 to 1024. */
static enum render_unit unit_of(double bytes)
{
	enum render_unit found = UNIT_B;

	while (found < UNIT_TB && fabs(bytes) >= 1024) {
		bytes /= 1024;
		found++;
	}
	return found;
}

void render_fit_unit(double smallest, double largest)
{
	const double low = trunc(fabs(smallest / divisor)), high = trunc(fabs(largest / divisor));

	fitted = unit_of(low);
	if (fitted != unit_of(high) && low * 100 < high)
		fitted = unit_of(low * 100);
}

static enum render_unit unit_for(double bytes)
{
	const enum render_unit asked = unit == UNIT_MINIMUM ? fitted : unit;

	return asked == UNIT_AUTO ? unit_of(bytes) : asked;
}

/* fraction: digits; what is only zeros of two digits is left out. */
static char *format(double bytes, int fraction, char *text)
{
	const enum render_unit in = unit_for(bytes);

	snprintf(text, HI_UNITS_TEXT_MAX, "%.*f", fraction,
		 ldexp(in == UNIT_B ? round(bytes) : bytes, -10 * (int)(in - UNIT_B)));
	char *zeros = strstr(text, ".00");
	if (zeros)
		*zeros = 0;
	if (strcmp(text, "0") == 0 || strcmp(text, "-0") == 0)
		snprintf(text, HI_UNITS_TEXT_MAX, "0");
	else
		strncat(text, unit_names[in], HI_UNITS_TEXT_MAX - strlen(text) - 1);
	return text;
}

char *render_size(double bytes, char *text)
{
	return unit == UNIT_AUTO ? hi_format_bytes(bytes, text, HI_UNITS_TEXT_MAX)
				 : format(bytes, 2, text);
}

char *render_value_short(double value, enum sample_type type, char *text)
{
	if (sample_type_is_space(type))
		return format(value, 1, text);
	snprintf(text, HI_UNITS_TEXT_MAX, "%.1f", value);
	return text;
}

char *render_value(double value, enum sample_type type, char *text)
{
	if (divisor != 1)
		value = trunc(round(value) / divisor);
	if (sample_type_is_space(type))
		return render_size(value, text);
	snprintf(text, HI_UNITS_TEXT_MAX, "%.0f", round(value) == 0 ? 0 : value);
	return text;
}

char *render_percent(double value, double total, char *text)
{
	const double percent = total != 0 ? 100 * fabs(value) / fabs(total) : 0;

	if (percent >= 99.95 && percent <= 100.05)
		snprintf(text, HI_UNITS_TEXT_MAX, "  100%%");
	else
		snprintf(text, HI_UNITS_TEXT_MAX, percent >= 1 ? "%5.2f%%" : "%5.2g%%", percent);
	return text;
}
