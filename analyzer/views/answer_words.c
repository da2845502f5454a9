/* SPDX-License-Identifier: MIT */
/* answer_words.c - see answer_words.h. */
#include "answer_words.h"

#include <inttypes.h>
#include <math.h>

#include "hi_path.h"
#include "hi_runtimes.h"

#define SECONDS_PER_HOUR 3600
#define SLOW 1024 /* bytes per second; below it rates are per hour */

bool answer_words_is_slow(double rate)
{
	return fabs(rate) < SLOW;
}

const char *answer_words_rate_like(double rate, double like, bool is_hourly, char *text)
{
	const double seconds = is_hourly ? SECONDS_PER_HOUR : 1;
	char value[HI_UNITS_TEXT_MAX];

	snprintf(text, HI_UNITS_TEXT_MAX, "%.20s/%c",
		 hi_format_bytes_like(rate * seconds, like * seconds, value, sizeof(value)),
		 is_hourly ? 'h' : 's');
	return text;
}

const char *answer_words_rate(double rate, char *text)
{
	return answer_words_rate_like(rate, rate, answer_words_is_slow(rate), text);
}

struct answer_words_rates answer_words_rates(double rate, double low, double high)
{
	const double like = fmax(fabs(rate), (high - low) / 2);
	struct answer_words_rates text;

	answer_words_rate_like(rate, like, answer_words_is_slow(like), text.rate);
	answer_words_rate_like(low, like, answer_words_is_slow(like), text.low);
	answer_words_rate_like(high, like, answer_words_is_slow(like), text.high);
	return text;
}

void answer_words_place(const struct answer *answer, const struct answer_row *row, FILE *out)
{
	const struct function_call *call =
		row->call == NO_CALL ? NULL : &answer->frames.functions.call[row->call];

	fputs(answer_row_name(answer, row), out);
	if (call && call->file && call->line)
		fprintf(out, " %s:%" PRIu32, hi_base_name(call->file), call->line);
	if (row->through != NO_CALL)
		fprintf(out, ", through %s",
			answer->frames.functions
				.name[answer->frames.functions.call[row->through].function]);
}

void answer_words_heaps(const struct answer *answer, enum mapped_kind kind, const char *before,
			FILE *out)
{
	char heaps[HI_RUNTIMES_TEXT_MAX];

	hi_runtimes_heaps(answer->profile->meta.runtimes, heaps, sizeof(heaps));
	if (*heaps && (kind == MAPPED_ANONYMOUS || kind == MAPPED_KINDS))
		fprintf(out, "%s%s", before, heaps);
}
