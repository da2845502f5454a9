/* SPDX-License-Identifier: MIT */
/* viewer_draw.c - draws the screen of one session. See viewer.h; start at viewer_draw(). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hi_interval.h"
#include "hi_units.h"
#include "screen.h"
#include "viewer.h"

#define LINE_MAX_SIZE 512
#define SLOPE_MAX_SIZE (4 * HI_UNITS_TEXT_MAX)
#define SECOND_NS 1e9
#define SLOW 1024 /* bytes per second; below it rates are per hour, as in reports */
#define SECONDS_PER_HOUR 3600
#define WIDE 110 /* columns from which on everything is spelled out */
#define ANSWER_LINES 3
#define ANSWER_LINES_TALL 6
#define TALL 30
#define MESSAGE_LINES 5
#define BELOW_ANSWER 4 /* memory, heap, cost, headings */

struct table {
	int verdict, slope, live, age, bars; /* widths */
};

static struct table table_of(int columns)
{
	return columns >= WIDE ? (struct table){21, 26, 10, 9, HI_ROWS_BARS}
			       : (struct table){9, 10, 9, 7, HI_ROWS_BARS / 2};
}

static int answer_lines(void)
{
	return screen_rows() >= TALL ? ANSWER_LINES_TALL : ANSWER_LINES;
}

static int message_lines(const struct viewer *viewer)
{
	const size_t lines = page_lines(viewer->message);

	return lines < MESSAGE_LINES ? (int)lines : MESSAGE_LINES;
}

static int first_row(void)
{
	return 1 + answer_lines() + BELOW_ANSWER;
}

size_t viewer_height(const struct viewer *viewer)
{
	const int height = screen_rows() - first_row() - message_lines(viewer) - 1;

	return height > 0 ? (size_t)height : 1;
}

/* A line that does not fit ends in a mark. */
static void put_line(int row, enum screen_style style, const char *text)
{
	screen_put(row, 0, screen_columns(), style, text);
	if ((int)strlen(text) > screen_columns())
		screen_put(row, screen_columns() - 1, 1, style, ">");
}

/* ---- above the table ------------------------------------------------------------------------- */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void draw_title(const struct viewer *viewer, uint64_t now_ns)
{
	const struct status_fields *status = &viewer->glance.status;
	char line[LINE_MAX_SIZE], window[HI_UNITS_TEXT_MAX], ago[HI_UNITS_TEXT_MAX];

	snprintf(line, sizeof(line), "heapinject top: %d %s", (int)viewer->pid,
		 viewer->memory.comm);
	screen_put(0, 0, screen_columns(), SCREEN_STRONG, line);
	if (!viewer->looked_ns)
		return;
	snprintf(line, sizeof(line), "%sprofile of %s, %s ago",
		 viewer->phase == VIEWER_OVER ? "ended, "
		 : status->paused             ? "paused, "
					      : "",
		 hi_format_duration(status->profile_ns / (uint64_t)SECOND_NS, window,
				    sizeof(window)),
		 hi_format_duration((now_ns - viewer->looked_ns) / (uint64_t)SECOND_NS, ago,
				    sizeof(ago)));
	screen_put(0, screen_columns() - (int)strlen(line), (int)strlen(line),
		   status->paused ? SCREEN_DOUBT : SCREEN_PLAIN, line);
}

static void draw_answer(const struct viewer *viewer)
{
	char text[sizeof(viewer->glance.head.answer) + sizeof(viewer->glance.head.notes) + 2];

	if (!viewer->glance.has_rows) {
		screen_put(1, 0, screen_columns(), SCREEN_WEAK,
			   viewer->looked_ns ? "Nothing can be said yet." : "");
		return;
	}
	snprintf(text, sizeof(text), "%s%s", viewer->glance.head.answer, viewer->glance.head.notes);
	page_wrap(text, 1, answer_lines());
	if (page_lines(text) > (size_t)answer_lines())
		screen_put(answer_lines(), screen_columns() - 4, 4, SCREEN_PLAIN, " ...");
}

static void draw_memory(const struct viewer *viewer, int row)
{
	const double resident = (double)process_resident(&viewer->memory);
	const double seen = viewer->glance.has_rows ? viewer->glance.head.live
						    : (double)viewer->glance.status.inuse_bytes;
	char line[LINE_MAX_SIZE], rss[HI_UNITS_TEXT_MAX], live[HI_UNITS_TEXT_MAX],
		rest[HI_UNITS_TEXT_MAX], growth[HI_UNITS_TEXT_MAX];

	snprintf(line, sizeof(line), "RSS %s (%s%s/s)  seen %s  not seen %s: older%s",
		 hi_format_bytes(resident, rss, sizeof(rss)), viewer->memory.growth < 0 ? "-" : "+",
		 hi_format_bytes(fabs(viewer->memory.growth), growth, sizeof(growth)),
		 hi_format_bytes(seen, live, sizeof(live)),
		 hi_format_bytes(fmax(0, resident - seen), rest, sizeof(rest)),
		 screen_columns() >= WIDE
			 ? " than the session, code, stacks, what the allocator keeps, other means"
			 : ", code");
	put_line(row, SCREEN_PLAIN, line);
}

static void draw_heap(const struct viewer *viewer, int row)
{
	const struct status_fields *status = &viewer->glance.status;
	char line[LINE_MAX_SIZE], used[HI_UNITS_TEXT_MAX], kept[HI_UNITS_TEXT_MAX],
		trim[HI_UNITS_TEXT_MAX];

	if (*status->heap_unread)
		snprintf(line, sizeof(line), "heap: not known: %s", status->heap_unread);
	else if (*status->heap_of)
		snprintf(line, sizeof(line),
			 "heap: in use %s  kept free %s (a trim would give back %s)  %s",
			 hi_format_bytes((double)status->heap_used, used, sizeof(used)),
			 hi_format_bytes((double)status->heap_kept, kept, sizeof(kept)),
			 hi_format_bytes((double)status->heap_trim, trim, sizeof(trim)),
			 status->heap_of);
	else
		snprintf(line, sizeof(line), "%s",
			 viewer->looked_ns ? "heap: not looked at yet" : "");
	put_line(row, SCREEN_PLAIN, line);
}

static void draw_cost(const struct viewer *viewer, int row)
{
	const struct status_fields *status = &viewer->glance.status;
	char line[LINE_MAX_SIZE], interval[HI_UNITS_TEXT_MAX], left[HI_UNITS_TEXT_MAX],
		time[HI_UNITS_TEXT_MAX], budget[32] = "";

	if (!viewer->looked_ns)
		return;
	if (status->interval <= HI_INTERVAL_EXACT)
		snprintf(interval, sizeof(interval), "1%s",
			 screen_columns() >= WIDE ? ", every allocation" : "");
	else
		hi_format_bytes((double)status->interval, interval, sizeof(interval));
	if (status->budget_ppm)
		snprintf(budget, sizeof(budget), ", budget %g%%", (double)status->budget_ppm / 1e4);
	if (!status->duration_ns)
		snprintf(left, sizeof(left), "until detached");
	else
		snprintf(left, sizeof(left), "%.20s left",
			 hi_format_duration(status->duration_ns > status->elapsed_ns
						    ? (status->duration_ns - status->elapsed_ns) /
							      (uint64_t)SECOND_NS
						    : 0,
					    time, sizeof(time)));
	snprintf(line, sizeof(line), "rate %s%s  costs %.2f%% %s, %.2f%% %s  %s", interval, budget,
		 percent(status->payload_cpu_ns, status->target_cpu_ns),
		 screen_columns() >= WIDE ? "of its CPU time" : "in it",
		 percent(status->own_cpu_ns, status->elapsed_ns),
		 screen_columns() >= WIDE ? "of a CPU beside it" : "beside it", left);
	put_line(row, SCREEN_PLAIN, line);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void draw_headings(const struct viewer *viewer, int row)
{
	const struct table table = table_of(screen_columns());
	char line[LINE_MAX_SIZE], what[64], filter[ORDER_FILTER_MAX + 16] = "";

	if (*viewer->order.filter)
		snprintf(filter, sizeof(filter), "  /%s", viewer->order.filter);
	snprintf(what, sizeof(what), "%s, by %s",
		 viewer->shows_source                    ? "source"
		 : viewer->order.kind == HI_ROW_FUNCTION ? "function"
							 : "stack",
		 order_key_name(viewer->order.key));
	snprintf(line, sizeof(line), "%-*s %*s %*s %*s %-*s %s%s", table.verdict, "verdict",
		 table.slope, screen_columns() >= WIDE ? "slope, 95% interval" : "slope",
		 table.live, "live", table.age, "age", table.bars, "history", what, filter);
	snprintf(line + strlen(line), sizeof(line) - strlen(line), "%*s",
		 screen_columns() > (int)strlen(line) ? screen_columns() - (int)strlen(line) : 0,
		 "");
	put_line(row, SCREEN_HEADING, line);
}

/* "12.3MB/s" or, what is slow, "1.5MB/h", and in wide windows with its interval */
static void format_slope(const struct hi_row *row, char text[SLOPE_MAX_SIZE])
{
	const bool is_slow = fabs(row->slope) < SLOW;
	const double times = is_slow ? SECONDS_PER_HOUR : 1, rate = row->slope * times;
	const char unit = is_slow ? 'h' : 's';
	char slope[HI_UNITS_TEXT_MAX], low[HI_UNITS_TEXT_MAX], high[HI_UNITS_TEXT_MAX];

	hi_format_bytes(rate, slope, sizeof(slope));
	if (row->is_unsure)
		snprintf(text, SLOPE_MAX_SIZE, "?");
	else if (screen_columns() < WIDE)
		snprintf(text, SLOPE_MAX_SIZE, "%s/%c", slope, unit);
	else
		snprintf(text, SLOPE_MAX_SIZE, "%s/%c %s..%s", slope, unit,
			 hi_format_bytes_like(row->slope_low * times, rate, low, sizeof(low)),
			 hi_format_bytes_like(row->slope_high * times, rate, high, sizeof(high)));
}

/* In a narrow table, words of which nothing is cut off. */
static const char *verdict_word(const char *verdict, int width)
{
	static const char *const shorts[][2] = {{"probably grows", "probably"},
						{"replaces older blocks", "replaces"},
						{"cannot tell yet", "not yet"},
						{"cannot tell", "unknown"}};

	for (size_t i = 0; i < sizeof(shorts) / sizeof(*shorts); i++)
		if ((int)strlen(verdict) > width && strcmp(verdict, shorts[i][0]) == 0)
			return shorts[i][1];
	return verdict;
}

/* Every second bar of a narrow table. */
static void draw_bars(const struct hi_row *row, int at, int column, int width)
{
	uint8_t height[HI_ROWS_BARS];
	const int step = HI_ROWS_BARS / width;

	for (int i = 0; i < width; i++)
		height[i] = row->bar[(i + 1) * step - 1];
	screen_bars(at, column, height, (size_t)width);
}

static void draw_row(const struct viewer *viewer, const struct hi_row *row, int at, bool is_chosen)
{
	const struct table table = table_of(screen_columns());
	char line[LINE_MAX_SIZE], slope[SLOPE_MAX_SIZE], live[HI_UNITS_TEXT_MAX],
		age[HI_UNITS_TEXT_MAX];
	const char *name = viewer->shows_source && *row->source ? row->source : row->name;

	format_slope(row, slope);
	snprintf(line, sizeof(line), "%-*.*s %*s %*s %*s ", table.verdict, table.verdict,
		 verdict_word(row->verdict, table.verdict), table.slope, slope, table.live,
		 hi_format_bytes(row->live, live, sizeof(live)), table.age,
		 row->samples > 0 ? hi_format_ns(row->age_ns, age, sizeof(age)) : "-");
	const int bars = (int)strlen(line);
	snprintf(line + bars, sizeof(line) - (size_t)bars, "%*s %-*s", table.bars, "",
		 screen_columns() > bars + table.bars ? screen_columns() - bars - table.bars - 1
						      : 0,
		 name);
	put_line(at, is_chosen ? SCREEN_CHOSEN : SCREEN_PLAIN, line);
	if (row->is_growing)
		screen_put(at, 0, table.verdict, *row->verdict == 'g' ? SCREEN_BAD : SCREEN_DOUBT,
			   line);
	draw_bars(row, at, bars, table.bars);
}

static void draw_table(const struct viewer *viewer)
{
	const size_t height = viewer_height(viewer);

	draw_headings(viewer, first_row() - 1);
	for (size_t i = 0; i < height && viewer->first + i < viewer->shown; i++)
		draw_row(viewer, &viewer->glance.row[viewer->index[viewer->first + i]].row,
			 first_row() + (int)i, viewer->first + i == viewer->chosen);
	if (!viewer->shown && viewer->glance.has_rows)
		screen_put(first_row(), 0, screen_columns(), SCREEN_WEAK,
			   *viewer->order.filter ? "nothing matches"
						 : "nothing that was sampled is still in use");
}

/* ---- below it -------------------------------------------------------------------------------- */

static const char *keys_text(const struct viewer *viewer)
{
	switch (viewer->question) {
	case ASKS_PAUSE:
		return "y: pause; no verdict from then on, until `heapinject reset`   else: no";
	case ASKS_DETACH:
		return "y: detach, end the session, write its files   any other key: no";
	case ASKS_LEAVE:
		return "top began this session.  e: end it  l: leave it running  other: stay";
	default:
		break;
	}
	switch (viewer->phase) {
	case VIEWER_OFFERS:
		return "y: attach   escape: back   q: quit";
	case VIEWER_LIVE:
		return "?:help  enter:stack  /:filter  o:order  f:stacks  d:dump  p:pause  "
		       "D:detach";
	case VIEWER_OVER:
		return "?:help  enter:stack  /:filter  o:order  f:stacks  q:quit";
	default:
		return "q:quit";
	}
}

static void draw_bottom(const struct viewer *viewer)
{
	char line[ORDER_FILTER_MAX + 64];
	const int last = screen_rows() - 1, lines = message_lines(viewer);

	for (int row = last - lines; row < last; row++) /* over the table, if there is no room */
		screen_clear_line(row);
	page_wrap(viewer->message, last - lines, lines);
	if (viewer->is_typing) {
		snprintf(line, sizeof(line), "filter: %s_   enter: keep  escape: none",
			 viewer->order.filter);
		screen_put(last, 0, screen_columns(), SCREEN_STRONG, line);
		return;
	}
	put_line(last,
		 viewer->question || viewer->phase == VIEWER_OFFERS ? SCREEN_STRONG : SCREEN_WEAK,
		 keys_text(viewer));
}

void viewer_draw(struct viewer *viewer, uint64_t now_ns)
{
	screen_clear();
	if (viewer->page.text) {
		page_draw(&viewer->page);
	} else {
		draw_title(viewer, now_ns);
		draw_answer(viewer);
		draw_memory(viewer, 1 + answer_lines());
		draw_heap(viewer, 2 + answer_lines());
		draw_cost(viewer, 3 + answer_lines());
		draw_table(viewer);
		draw_bottom(viewer);
	}
	screen_show();
}
