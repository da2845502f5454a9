/* SPDX-License-Identifier: MIT */
/* report_limit.c - see report_limit.h. */
#include "report_limit.h"

#include "caveats.h"
#include "hi_exit.h"
#include "hi_units.h"
#include "leaks.h"
#include "render_formats.h"
#include "series.h"

/*
 * The value that --fail-above limits: for --leaks what grows; otherwise what is in use, in the last
 * file of --growth, or in a comparison the difference from the base.
 */
static int limited_value(const struct report_options *options, const struct profile *profile,
			 double *out_value)
{
	const struct series *series = options->render.series;
	struct stack_text text;
	struct leaks leaks = {0};
	int err;

	*out_value = options->renderer->render == render_growth && series->snapshot_count
			     ? series->snapshot[series->snapshot_count - 1].in_use
			     : estimate_total(profile, INUSE_SPACE).value;
	if (options->renderer->render != render_leaks)
		return 0;
	err = stack_text_open(profile, &text);
	if (!err)
		err = leaks_open(&text, &options->render.tail, &leaks);
	*out_value = leaks.growing_bytes.value;
	leaks_close(&leaks);
	stack_text_close(&text);
	return err;
}

static bool asks_what_grows(const struct report_options *options)
{
	return options->renderer->render == render_leaks ||
	       options->renderer->render == render_growth;
}

/* Without a limit. What was not seen may grow, too. */
static int check_growth(const struct report_options *options, uint32_t caveats)
{
	if (!asks_what_grows(options) || !caveats_too_low(caveats))
		return HI_EXIT_OK;
	report_complain(options, "cannot tell all that grows: see the warnings of the report");
	return HI_EXIT_UNSURE;
}

int report_check_limit(const struct report_options *options, const struct profile *profile)
{
	const uint32_t caveats = caveats_bits(&profile->meta);
	char value_text[HI_UNITS_TEXT_MAX], limit_text[HI_UNITS_TEXT_MAX];
	double value;

	if (asks_what_grows(options) && caveats_withhold_verdicts(caveats)) {
		report_complain(options, "cannot tell what grows: see the warnings of the report");
		return HI_EXIT_UNSURE;
	}
	if (!options->fail_above)
		return check_growth(options, caveats);
	if (limited_value(options, profile, &value)) {
		report_complain(options, "out of memory");
		return HI_EXIT_FAILED;
	}
	/*
	 * With caveats_too_low() the value is a lower bound, so a value above the limit is certain.
	 */
	if (caveats_too_high(caveats) ||
	    (caveats_too_low(caveats) && value <= (double)options->fail_above)) {
		report_complain(options,
				"cannot tell whether more than the %s of --fail-above %s: see the "
				"warnings of the report",
				hi_format_bytes((double)options->fail_above, limit_text,
						sizeof(limit_text)),
				options->renderer->render == render_leaks ? "grow" : "are in use");
		return HI_EXIT_UNSURE;
	}
	if (value <= (double)options->fail_above)
		return HI_EXIT_OK;
	report_complain(
		options, "%s %s, more than the %s of --fail-above",
		hi_format_bytes(value, value_text, sizeof(value_text)),
		options->renderer->render == render_leaks ? "grow" : "are in use",
		hi_format_bytes((double)options->fail_above, limit_text, sizeof(limit_text)));
	return HI_EXIT_ABOVE;
}
