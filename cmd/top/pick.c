/* SPDX-License-Identifier: MIT */
/* pick.c - see pick.h. */
#include "pick.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "hi_units.h"
#include "processes.h"
#include "screen.h"

#define LOOK_MS 2000
#define LOOK_NS 2000000000ull
#define ABOVE 2 /* lines above the rows */

struct pick {
	struct processes processes;
	uint64_t next_ns;
	pid_t chosen; /* stays the same process when the order changes; 0 = none yet */
	size_t at, first;
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static size_t height_now(void)
{
	return screen_rows() > ABOVE + 1 ? (size_t)screen_rows() - ABOVE - 1 : 1;
}

static void choose(struct pick *pick, size_t at)
{
	const size_t count = pick->processes.count, height = height_now();

	pick->at = at < count ? at : count ? count - 1 : 0;
	pick->chosen = count ? pick->processes.process[pick->at].pid : 0;
	if (pick->at < pick->first)
		pick->first = pick->at;
	if (pick->at >= pick->first + height)
		pick->first = pick->at - height + 1;
}

static void look(struct pick *pick, uint64_t now_ns)
{
	if (now_ns < pick->next_ns)
		return;
	pick->next_ns = now_ns + LOOK_NS;
	(void)!processes_look(&pick->processes, now_ns);
	size_t at = pick->at;
	for (size_t i = 0; i < pick->processes.count; i++)
		if (pick->processes.process[i].pid == pick->chosen)
			at = i;
	/* before a choice was made, the first row is chosen, whatever it is */
	choose(pick, pick->at || pick->first ? at : 0);
}

static void draw_process(const struct process *process, int row, bool is_chosen)
{
	char line[256], rss[HI_UNITS_TEXT_MAX], growth[HI_UNITS_TEXT_MAX];

	snprintf(line, sizeof(line), "%8d %10s %s%10s/s  %-8s %.16s%s", (int)process->pid,
		 hi_format_bytes((double)process_resident(process), rss, sizeof(rss)),
		 process->growth < 0 ? "-" : "+",
		 hi_format_bytes(fabs(process->growth), growth, sizeof(growth)),
		 process->is_attached ? "session" : "", process->comm, "");
	screen_put(row, 0, screen_columns(), is_chosen ? SCREEN_CHOSEN : SCREEN_PLAIN, line);
}

static void draw(const struct pick *pick)
{
	screen_clear();
	screen_put(0, 0, screen_columns(), SCREEN_STRONG,
		   "heapinject top: processes by growth of their memory");
	screen_put(1, 0, screen_columns(), SCREEN_HEADING,
		   "     PID        RSS        growth             program");
	for (size_t i = 0; i < height_now() && pick->first + i < pick->processes.count; i++)
		draw_process(&pick->processes.process[pick->first + i], ABOVE + (int)i,
			     pick->first + i == pick->at);
	screen_put(screen_rows() - 1, 0, screen_columns(), SCREEN_WEAK,
		   "up, down: choose  enter: watch it (asks before it attaches)  q: quit");
	screen_show();
}

/* True: the user has picked one, or leaves (chosen = 0). */
static bool take_key(struct pick *pick, int key)
{
	const size_t height = height_now();

	switch (key) {
	case 'q':
	case KEY_BACK:
		pick->chosen = 0;
		return true;
	case KEY_CHOOSE:
		return pick->chosen != 0;
	case KEY_ROW_UP:
		choose(pick, pick->at - (pick->at > 0));
		break;
	case KEY_ROW_DOWN:
		choose(pick, pick->at + 1);
		break;
	case KEY_PAGE_UP:
		choose(pick, pick->at > height ? pick->at - height : 0);
		break;
	case KEY_PAGE_DOWN:
		choose(pick, pick->at + height);
		break;
	case KEY_FIRST:
		choose(pick, 0);
		break;
	case KEY_LAST:
		choose(pick, pick->processes.count);
		break;
	default:
		break;
	}
	return false;
}

pid_t pick_run(struct events *events)
{
	struct pick pick = {0};
	bool is_done = false;

	while (!is_done) {
		look(&pick, clock_ns());
		choose(&pick, pick.at); /* the screen may have become smaller */
		draw(&pick);
		if (!events_wait(events, NULL, 0, LOOK_MS)) {
			pick.chosen = 0;
			break;
		}
		for (int key; !is_done && (key = screen_key()) != KEY_NONE;)
			is_done = take_key(&pick, key);
	}
	processes_close(&pick.processes);
	return pick.chosen;
}
