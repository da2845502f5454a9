/* SPDX-License-Identifier: MIT */
/* progress.c - see progress.h. */
#include "progress.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hi_units.h"

#define SECOND_NS 1000000000ull
#define LINE_EVERY_NS (10 * SECOND_NS)
#define REDRAW_EVERY_NS (SECOND_NS / 4)

void progress_open(struct progress *progress, bool quiet)
{
	const char *terminal = getenv("TERM");
	*progress = (struct progress){.quiet = quiet,
				      .is_terminal = isatty(STDERR_FILENO) && terminal &&
						     strcmp(terminal, "dumb") != 0};
}

/*
 * If the ring was too full: the share of the events that was lost, and a rate at which none would
 * have been lost.
 */
static void format_losses(char *text, size_t size, const struct hi_stream_stats *stats,
			  uint64_t interval)
{
	const double lost = (double)stats->dropped_allocs + (double)stats->dropped_frees;
	const double all = lost + (double)stats->samples + (double)stats->frees;
	char rate[HI_UNITS_TEXT_MAX];
	*text = 0;
	if (lost > 0 && interval)
		snprintf(text, size, "; too many to be read, %.2f%% lost: --sample %s would fit",
			 100 * lost / all,
			 hi_format_rate(hi_fitting_interval(interval, 0, (all - lost) / all), rate,
					sizeof(rate)));
}

/* The first caveat that applies is the most important one. */
static const char *caveat(uint32_t caveats)
{
	static const char *const words[HI_CAVEATS] = {
		[HI_CAVEAT_MISSED_FREES] = " (too high: frees go past the hooks)",
		[HI_CAVEAT_IMPOSSIBLE] = " (cannot be: frees go past the hooks)",
		[HI_CAVEAT_UNHOOKED] = " (not all: an allocator is not hooked)",
		[HI_CAVEAT_DROPPED] = " (not right: many samples were dropped)",
		[HI_CAVEAT_PAUSED] = " (not all: it was paused)",
		[HI_CAVEAT_OTHER_MEANS] = " (not all: it grows by other means)",
	};
	for (int kind = 0; kind < HI_CAVEATS; kind++)
		if ((caveats >> kind & 1) && words[kind])
			return words[kind];
	return "";
}

static void format(char *line, size_t size, const struct hi_stream_stats *stats,
		   const struct hi_analyzer_status *status, uint64_t duration_ns)
{
	char elapsed[HI_UNITS_TEXT_MAX], whole[HI_UNITS_TEXT_MAX] = "",
					 live[HI_UNITS_TEXT_MAX + 80] = "",
					 grows[HI_UNITS_TEXT_MAX + 16] = "";
	hi_format_duration(stats->time_ns / SECOND_NS, elapsed, sizeof(elapsed));
	if (duration_ns)
		hi_format_duration(duration_ns / SECOND_NS, whole, sizeof(whole));
	if (status) {
		char bytes[HI_UNITS_TEXT_MAX];
		snprintf(live, sizeof(live), ", %s live%s",
			 hi_format_bytes((double)status->live_bytes, bytes, sizeof(bytes)),
			 caveat(status->caveats));
	}
	if (status && status->verdict == HI_ANALYZER_GROWS) {
		char rate[HI_UNITS_TEXT_MAX];
		snprintf(grows, sizeof(grows), ", grows by %s/s",
			 hi_format_bytes((double)status->slope, rate, sizeof(rate)));
	}
	const double overhead =
		stats->time_ns ? 100.0 * (double)stats->payload_cpu_ns / (double)stats->time_ns : 0;
	snprintf(line, size,
		 "heapinject: %s%s%s, %llu samples%s%s, %llu dropped, overhead %.3f%% of a CPU",
		 elapsed, duration_ns ? " of " : "", whole, (unsigned long long)stats->samples,
		 live, grows,
		 (unsigned long long)(stats->dropped_allocs + stats->dropped_frees +
				      stats->live_set_full),
		 overhead);
}

/*
 * Whether a write to standard error would block (a full pipe, a terminal after Ctrl-S). The line is
 * then left out, so that the session does not block.
 */
static bool would_wait(void)
{
	struct pollfd writable = {.fd = STDERR_FILENO, .events = POLLOUT};
	return poll(&writable, 1, 0) == 0;
}

/* What the analyzer says has passed through a process that has read the target's data. */
static void say_answer(struct progress *progress, const struct hi_analyzer_status *status)
{
	char line[HI_ANALYZER_SENTENCE_MAX + 32];
	int length = snprintf(line, sizeof(line), "heapinject: so far: %.*s",
			      (int)sizeof(status->sentence) - 1, status->sentence);
	if (status->answer == progress->answer)
		return;
	progress->answer = status->answer;
	for (int i = 0; i < length; i++)
		if (line[i] < ' ' || line[i] > '~')
			line[i] = '?';
	progress_say(progress, line);
}

static bool is_due(const struct progress *progress, uint64_t time_ns)
{
	const uint64_t every = progress->is_terminal ? REDRAW_EVERY_NS : LINE_EVERY_NS;

	return !progress->quiet && time_ns >= progress->shown_ns + every && !would_wait();
}

static void draw(struct progress *progress, const char *line, const char *more)
{
	progress->is_open = progress->is_terminal;
	if (progress->is_terminal)
		fprintf(stderr, "\r\033[K%s%s", line, more);
	else
		fprintf(stderr, "%s%s\n", line, more);
	fflush(stderr);
}

void progress_draw(struct progress *progress, uint64_t time_ns, const char *line)
{
	if (!is_due(progress, time_ns))
		return;
	progress->shown_ns = time_ns;
	draw(progress, line, "");
}

void progress_show(struct progress *progress, const struct hi_stream_stats *stats,
		   const struct hi_analyzer_status *status, uint64_t duration_ns)
{
	if (!is_due(progress, stats->time_ns))
		return;
	if (status)
		say_answer(progress, status);
	progress->shown_ns = stats->time_ns;
	if (progress->is_log)
		return;
	char line[384], losses[128];
	format(line, sizeof(line), stats, status, duration_ns);
	format_losses(losses, sizeof(losses), stats, progress->interval);
	draw(progress, line, losses);
}

void progress_complain(struct progress *progress, const char *line)
{
	if (would_wait())
		return;
	fprintf(stderr, "%s%s\n", progress->is_open ? "\r\033[K" : "", line);
	fflush(stderr);
	progress->is_open = false;
}

void progress_say(struct progress *progress, const char *line)
{
	if (!progress->quiet)
		progress_complain(progress, line);
}

void progress_close(struct progress *progress)
{
	if (progress->is_open)
		fputc('\n', stderr);
	progress->is_open = false;
}
