/* SPDX-License-Identifier: MIT */
/* limit_watch.c - see limit_watch.h. */
#include "limit_watch.h"

#include <errno.h>
#include <string.h>

#include "hi_dump.h"
#include "hi_units.h"

#define PPM 1e6
#define SECOND_NS 1000000000ull
/* growth of a burst, and that of a leak: 0.6 seconds and a minute */
#define FAST_NS 10000000ull
#define SLOW_NS SECOND_NS
#define SLOPE_POINTS_MIN 4u
/* a threshold counts again once memory was so much below it */
#define REARM_PPM 50000u
/* pressure begins after so long without */
#define CALM_NS (60 * SECOND_NS)
/* below this share of the limit the kernel only makes room by dropping file pages */
#define PRESSURE_FROM_PPM 500000u
/* when a forecast of the fast growth counts */
#define IMMINENT_NS (10 * SECOND_NS)
/* what is said of the future, besides at profiles: not of a program that only starts */
#define NEWS_POINTS_MIN 10u
#define NEWS_FROM_PPM 500000u
#define NEAR_NS (2 * SECOND_NS)
#define FARTHEST_NS (30 * 24 * 3600 * SECOND_NS)

static const uint64_t news_ns[] = {3600 * SECOND_NS, 600 * SECOND_NS, 60 * SECOND_NS};

/* ---- options --------------------------------------------------------------------------------- */

/* Keeps the order; a share that is there already is not added. */
static int add(struct limit_options *options, uint32_t ppm)
{
	unsigned at = 0;

	while (at < options->count && options->at_ppm[at] < ppm)
		at++;
	if (at < options->count && options->at_ppm[at] == ppm)
		return 0;
	if (options->count == LIMIT_AT_MAX)
		return -E2BIG;
	memmove(options->at_ppm + at + 1, options->at_ppm + at,
		(options->count++ - at) * sizeof(*options->at_ppm));
	options->at_ppm[at] = ppm;
	return 0;
}

int limit_parse_at(const char *text, struct limit_options *out_options)
{
	struct limit_options options = {0};
	char word[16];

	for (;; text++) {
		const size_t size = strcspn(text, ",");
		uint32_t ppm;

		if (size >= sizeof(word))
			return -EINVAL;
		memcpy(word, text, size);
		word[size] = 0;
		int err = hi_parse_percent(word, &ppm);
		if (!err)
			err = add(&options, ppm);
		if (err)
			return err;
		text += size;
		if (!*text)
			break;
	}
	*out_options = options;
	return 0;
}

void limit_describe_at(const struct limit_options *options, FILE *out)
{
	for (unsigned i = 0; i < options->count; i++)
		fprintf(out, "%s%g%%", i ? "," : "", options->at_ppm[i] / 1e4);
}

/* ---- growth ---------------------------------------------------------------------------------- */

void limit_history_add(struct limit_history *history, uint64_t now_ns, uint64_t used)
{
	if (history->count && now_ns < history->point[history->count - 1].ns + history->period_ns)
		return;
	if (history->count == LIMIT_POINTS)
		memmove(history->point, history->point + 1,
			--history->count * sizeof(*history->point));
	history->point[history->count].ns = now_ns;
	history->point[history->count++].used = used;
}

double limit_history_slope(const struct limit_history *history)
{
	double time = 0, used = 0, above = 0, below = 0;
	const double count = (double)history->count;

	if (history->count < SLOPE_POINTS_MIN)
		return 0;
	for (size_t i = 0; i < history->count; i++) {
		time += (double)(history->point[i].ns - history->point[0].ns) / SECOND_NS;
		used += (double)history->point[i].used;
	}
	for (size_t i = 0; i < history->count; i++) {
		const double t = (double)(history->point[i].ns - history->point[0].ns) / SECOND_NS -
				 time / count;

		above += t * ((double)history->point[i].used - used / count);
		below += t * t;
	}
	return below > 0 ? above / below : 0;
}

static uint64_t bytes_of(const struct limit_watch *watch, uint32_t ppm)
{
	return (uint64_t)(ppm / PPM * (double)watch->now.limit);
}

/* Nanoseconds until `to` is reached; 0 if it is reached; UINT64_MAX: not as memory grows now. */
static uint64_t time_to(uint64_t used, uint64_t to, double slope)
{
	if (used >= to)
		return 0;
	if (slope <= 0)
		return UINT64_MAX;
	const double ns = (double)(to - used) / slope * SECOND_NS;

	return ns < (double)FARTHEST_NS ? (uint64_t)ns : UINT64_MAX;
}

bool limit_watch_forecast(const struct limit_watch *watch, uint64_t *out_ns, double *out_slope)
{
	const uint64_t used = watch->now.used, limit = watch->now.limit;
	const double slow = limit_history_slope(&watch->slow),
		     fast = limit_history_slope(&watch->fast);
	const uint64_t fast_ns = time_to(used, limit, fast);
	const bool is_fast = fast_ns < IMMINENT_NS;
	const uint64_t ns = is_fast ? fast_ns : time_to(used, limit, slow);

	if (!limit || ns == UINT64_MAX)
		return false;
	*out_ns = ns;
	*out_slope = is_fast ? fast : slow;
	return *out_slope > 0;
}

bool limit_watch_is_near(const struct limit_watch *watch)
{
	uint64_t ns;
	double slope;

	return limit_watch_forecast(watch, &ns, &slope) && ns < NEAR_NS;
}

bool limit_watch_is_news(struct limit_watch *watch)
{
	uint32_t below = 0, far = 0;
	uint64_t ns = UINT64_MAX;
	double slope;

	if (watch->slow.count < NEWS_POINTS_MIN && watch->now.used < bytes_of(watch, NEWS_FROM_PPM))
		return false;
	(void)limit_watch_forecast(watch, &ns, &slope);
	for (uint32_t i = 0; i < sizeof(news_ns) / sizeof(*news_ns); i++) {
		below |= (uint32_t)(ns < news_ns[i]) << i;
		far |= (uint32_t)(ns / 2 > news_ns[i]) << i;
	}
	const bool is_news = (below & ~watch->warned) != 0;

	watch->warned = (watch->warned & ~far) | below;
	return is_news;
}

/* ---- what is due ----------------------------------------------------------------------------- */

void limit_watch_open(struct limit_watch *watch, const struct limit_options *options)
{
	*watch = (struct limit_watch){
		.options = options,
		.fast.period_ns = FAST_NS,
		.slow.period_ns = SLOW_NS,
	};
}

uint64_t limit_watch_next(const struct limit_watch *watch)
{
	return watch->passed < watch->options->count
		       ? bytes_of(watch, watch->options->at_ppm[watch->passed])
		       : UINT64_MAX;
}

double limit_watch_percent(const struct limit_watch *watch)
{
	return watch->now.limit ? 100.0 * (double)watch->now.used / (double)watch->now.limit : 0;
}

/*
 * Whether the next profile would have to wait for this one, which says less than that. There is one
 * at a time, and the last one must be whole before the limit. The first is always written: it is
 * better than none, and names that are looked up for it are known to the next.
 */
static bool is_in_the_way(const struct limit_watch *watch)
{
	const uint64_t next = limit_watch_next(watch);

	return next != UINT64_MAX &&
	       time_to(watch->now.used, next, limit_history_slope(&watch->fast)) < watch->write_ns;
}

static bool look_at_thresholds(struct limit_watch *watch)
{
	const unsigned before = watch->passed;

	while (watch->passed && watch->now.used + bytes_of(watch, REARM_PPM) <
					bytes_of(watch, watch->options->at_ppm[watch->passed - 1]))
		watch->passed--;
	while (watch->now.used >= limit_watch_next(watch))
		watch->passed++;
	watch->is_owed |= watch->passed > before;
	const bool is_due = watch->is_owed && !is_in_the_way(watch);

	watch->is_owed &= !is_due;
	return is_due;
}

static bool look_at_pressure(struct limit_watch *watch)
{
	const struct limit_figures *now = &watch->now;
	const bool has_stalled = watch->has_stalls && now->stalls > watch->stalls;

	watch->stalls = now->stalls;
	watch->has_stalls = true;
	if ((!has_stalled && !now->is_pressed) || now->used < bytes_of(watch, PRESSURE_FROM_PPM))
		return false;
	const bool begins = !watch->pressed_ns || now->now_ns > watch->pressed_ns + CALM_NS;

	watch->pressed_ns = now->now_ns;
	return begins;
}

uint32_t limit_watch_look(struct limit_watch *watch, const struct limit_figures *figures)
{
	if (!figures->limit)
		return 0;
	watch->now = *figures;
	limit_history_add(&watch->fast, figures->now_ns, figures->used);
	limit_history_add(&watch->slow, figures->now_ns, figures->used);
	const bool is_passed = look_at_thresholds(watch), is_pressed = look_at_pressure(watch);

	return (is_passed ? HI_DUMP_LIMIT : 0u) | (is_pressed ? HI_DUMP_PRESSURE : 0u);
}
