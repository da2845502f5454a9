/* SPDX-License-Identifier: MIT */
/*
 * render_annotated.c - see render_annotated.h. The columns are those of pprof's list.
 */
#include "render_annotated.h"

#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "hi_units.h"
#include "render_formats.h"
#include "render_header.h"

static int compile(const char *view, const char *text, regex_t *out_regex)
{
	char why[128];
	const int err = regcomp(out_regex, text, REG_EXTENDED | REG_NOSUB);

	if (!err)
		return 0;
	regerror(err, out_regex, why, sizeof(why));
	return render_fail(-EINVAL, "--%s: \"%s\" is no regular expression: %s", view, text, why);
}

int annotated_wanted(const char *view, const char *text, const struct functions *functions,
		     bool **out_wanted)
{
	regex_t regex;
	size_t count = 0;
	const int err = compile(view, text, &regex);

	if (err)
		return err;
	bool *wanted = calloc(functions->count + 1, sizeof(*wanted));
	for (size_t i = 0; wanted && i < functions->count; i++) {
		wanted[i] = regexec(&regex, functions->name[i], 0, NULL, 0) == 0;
		count += wanted[i];
	}
	regfree(&regex);
	if (wanted && count) {
		*out_wanted = wanted;
		return 0;
	}
	free(wanted);
	return wanted ? render_fail(-ESRCH,
				    "--%s: no function matches \"%s\"; --text shows their names",
				    view, text)
		      : -ENOMEM;
}

static void print_interval(const char *what, const struct estimate *estimate, enum sample_type type,
			   FILE *out)
{
	char low_text[HI_UNITS_TEXT_MAX], high_text[HI_UNITS_TEXT_MAX];
	double low, high;

	estimate_interval(estimate, &low, &high);
	fprintf(out, "%10s %s .. %s, 95%%\n", what, render_value(low, type, low_text),
		render_value(high, type, high_text));
}

void annotated_head(const char *name, const char *place, const struct estimate *flat,
		    const struct estimate *cum, const struct estimate *total,
		    const struct render_options *options, FILE *out)
{
	char percent[HI_UNITS_TEXT_MAX];

	fprintf(out, "ROUTINE ======================== %s in %s\n", name, place);
	annotated_figures(flat->value, cum->value, options->type, out);
	render_percent(cum->value, total->value, percent);
	fprintf(out, " (flat, cum) %s of Total\n", percent + strspn(percent, " "));
	if (options->intervals) {
		print_interval("flat", flat, options->type, out);
		print_interval("cum", cum, options->type, out);
	}
}

static const char *figure(double value, enum sample_type type, char *text)
{
	return value != 0 ? render_value(value, type, text) : ".";
}

void annotated_figures(double flat, double cum, enum sample_type type, FILE *out)
{
	char flat_text[HI_UNITS_TEXT_MAX], cum_text[HI_UNITS_TEXT_MAX];

	fprintf(out, "%10s %10s", figure(flat, type, flat_text), figure(cum, type, cum_text));
}

struct source_places annotated_places(const struct render_options *options,
				      const struct profile *profile, int32_t module)
{
	struct source_places places = {.path = options->source_path, .trim = options->trim_path};

	if (module >= 0 && module < (int64_t)profile->module_count) {
		places.build_id = profile->module[module].build_id;
		places.build_id_size = profile->module[module].build_id_size;
	}
	return places;
}
