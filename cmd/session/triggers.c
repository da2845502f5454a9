/* SPDX-License-Identifier: MIT */
/* triggers.c - see triggers.h. */
#include "triggers.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "hi_units.h"

#define PPM 1e6

/* ---- options --------------------------------------------------------------------------------- */

/* "3" after RTMIN+ or RTMAX-. */
static int parse_offset(const char *text, int *out_offset)
{
	const char *end;
	uint64_t value;

	if (hi_parse_digits(text, &value, &end) || *end || value > (uint64_t)(SIGRTMAX - SIGRTMIN))
		return -EINVAL;
	*out_offset = (int)value;
	return 0;
}

static int parse_real_time(const char *text, int *out_signal)
{
	int offset = 0, err = 0;

	if (!strcmp(text, "RTMIN") || !strcmp(text, "RTMAX")) {
		*out_signal = strcmp(text, "RTMIN") ? SIGRTMAX : SIGRTMIN;
	} else if (!strncmp(text, "RTMIN+", strlen("RTMIN+"))) {
		err = parse_offset(text + strlen("RTMIN+"), &offset);
		*out_signal = SIGRTMIN + offset;
	} else if (!strncmp(text, "RTMAX-", strlen("RTMAX-"))) {
		err = parse_offset(text + strlen("RTMAX-"), &offset);
		*out_signal = SIGRTMAX - offset;
	} else {
		err = -EINVAL;
	}
	return err;
}

int triggers_parse_signal(const char *text, int *out_signal)
{
	const char *name = strncmp(text, "SIG", 3) ? text : text + 3, *end;
	uint64_t number;
	int signal, err = 0;

	if (!hi_parse_digits(text, &number, &end)) {
		signal = !*end && number <= (uint64_t)SIGRTMAX ? (int)number : 0;
		if (signal != SIGUSR1 && signal != SIGUSR2 && signal < SIGRTMIN)
			err = -EINVAL;
	} else if (!strcmp(name, "USR1")) {
		signal = SIGUSR1;
	} else if (!strcmp(name, "USR2")) {
		signal = SIGUSR2;
	} else {
		err = parse_real_time(name, &signal);
	}
	if (!err)
		*out_signal = signal;
	return err;
}

int triggers_parse_rss(const char *text, struct trigger_options *options)
{
	uint64_t bytes = 0;
	uint32_t ppm = 0;
	const int err =
		strchr(text, '%') ? hi_parse_percent(text, &ppm) : hi_parse_bytes(text, &bytes);

	if (err)
		return err;
	options->rss_bytes = bytes;
	options->rss_ppm = ppm;
	return 0;
}

bool triggers_are_any(const struct trigger_options *options)
{
	return options->every_ns || options->alloc_bytes || options->peak_bytes ||
	       options->rss_bytes || options->rss_ppm || options->signal || options->limit.count;
}

static void name_signal(int signal, char text[HI_UNITS_TEXT_MAX])
{
	if (signal == SIGUSR1 || signal == SIGUSR2)
		snprintf(text, HI_UNITS_TEXT_MAX, "USR%d", signal == SIGUSR1 ? 1 : 2);
	else
		snprintf(text, HI_UNITS_TEXT_MAX, "RTMIN+%d", signal - SIGRTMIN);
}

const char *triggers_describe(const struct trigger_options *options, char text[TRIGGERS_TEXT_MAX])
{
	char value[HI_UNITS_TEXT_MAX];
	FILE *out = fmemopen(text, TRIGGERS_TEXT_MAX, "w");

	*text = 0;
	if (!out)
		return text;
	if (options->every_ns)
		fprintf(out, " --every %s",
			hi_format_time(options->every_ns, value, sizeof(value)));
	if (options->alloc_bytes)
		fprintf(out, " --every-alloc %s",
			hi_format_rate(options->alloc_bytes, value, sizeof(value)));
	if (options->peak_bytes)
		fprintf(out, " --at-peak %s",
			hi_format_rate(options->peak_bytes, value, sizeof(value)));
	if (options->rss_bytes)
		fprintf(out, " --at-rss %s",
			hi_format_rate(options->rss_bytes, value, sizeof(value)));
	if (options->rss_ppm)
		fprintf(out, " --at-rss %g%%", options->rss_ppm / 1e4);
	if (options->signal) {
		name_signal(options->signal, value);
		fprintf(out, " --on-signal %s", value);
	}
	if (options->limit.count) {
		fputs(" --at ", out);
		limit_describe_at(&options->limit, out);
	}
	fclose(out);
	text[TRIGGERS_TEXT_MAX - 1] = 0;
	memmove(text, text + (*text == ' '), strlen(text + (*text == ' ')) + 1);
	return text;
}

/* ---- in a session ---------------------------------------------------------------------------- */

void triggers_open(struct triggers *triggers, const struct trigger_options *options,
		   uint64_t memory_limit)
{
	*triggers = (struct triggers){
		.options = options,
		.alloc_due = options->alloc_bytes,
		.rss_limit = options->rss_bytes
				     ? options->rss_bytes
				     : (uint64_t)(options->rss_ppm / PPM * (double)memory_limit),
	};
}

bool triggers_need_figures(const struct triggers *triggers)
{
	return triggers->options->alloc_bytes || triggers->options->peak_bytes ||
	       triggers->rss_limit;
}

uint32_t triggers_look(struct triggers *triggers, const struct trigger_figures *figures)
{
	const struct trigger_options *options = triggers->options;
	uint32_t due = figures->has_signal ? HI_DUMP_SIGNAL : 0;

	if (figures->has_blocks)
		triggers->inuse_last = figures->inuse_bytes;
	const bool may_fire = figures->has_blocks && figures->now_ns >= triggers->rests_until_ns;
	if (options->alloc_bytes && may_fire && figures->allocated_bytes >= triggers->alloc_due) {
		triggers->alloc_due = (figures->allocated_bytes / options->alloc_bytes + 1) *
				      options->alloc_bytes;
		due |= HI_DUMP_ALLOC;
	}
	if (options->peak_bytes && may_fire && figures->inuse_bytes > triggers->dumped &&
	    figures->inuse_bytes - triggers->dumped > options->peak_bytes) {
		triggers->dumped = figures->inuse_bytes;
		due |= HI_DUMP_PEAK;
	}
	if (due & (HI_DUMP_ALLOC | HI_DUMP_PEAK))
		triggers->rests_until_ns = figures->now_ns + TRIGGERS_REST_NS;
	if (triggers->rss_limit && figures->resident_bytes > triggers->rss_limit) {
		triggers->rss_limit = 0;
		due |= HI_DUMP_RSS;
	}
	return due;
}

void triggers_dumped(struct triggers *triggers)
{
	if (triggers->inuse_last > triggers->dumped)
		triggers->dumped = triggers->inuse_last;
}

void triggers_reset(struct triggers *triggers)
{
	triggers->alloc_due = triggers->options->alloc_bytes;
	triggers->dumped = triggers->inuse_last = 0;
}
