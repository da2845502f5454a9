/* SPDX-License-Identifier: MIT */
/* viewer.c - see viewer.h. Start at viewer_run(). */
#include "viewer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "procfs.h"
#include "screen.h"

#define TICK_MS 1000

static const char help_text[] =
	"Keys\n"
	"  up, down, page up, page down, home, end   choose a row\n"
	"  enter    the whole stack of the row, with source lines\n"
	"  f        rows by stack, or by function again\n"
	"  s        source lines in the place of functions\n"
	"  o        order by the next column; v verdict, g slope, l live, a age, n name\n"
	"  /        show only rows with this in a name, a source line or the stack\n"
	"  r        look now\n"
	"  d        dump: write a profile; the session goes on\n"
	"  p        pause or resume sampling; after a pause there is no verdict until `reset`\n"
	"  D        detach: end the session, with a receipt of what was restored\n"
	"  q        quit; a session that was there before goes on\n"
	"\n"
	"Columns\n"
	"  verdict  whether it grows, by the times at which blocks came and went\n"
	"  slope    by how much, per second\n"
	"  live     what was allocated since the session began, or was reset, and is in use\n"
	"  age      mean age of that\n"
	"  history  what was in use since then\n"
	"  function where a person would look first: allocators and wrappers are left out\n"
	"\n"
	"Figures are estimates from samples, the same as those of heapinject report --leaks.\n"
	"RSS is all memory that the process has. What is not seen of it was allocated before the\n"
	"session, or is code, stacks, caches of the allocator, or mapped by other means.\n";

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void keep_in_sight(struct viewer *viewer)
{
	const size_t height = viewer_height(viewer);

	if (viewer->chosen >= viewer->shown)
		viewer->chosen = viewer->shown ? viewer->shown - 1 : 0;
	if (viewer->chosen < viewer->first)
		viewer->first = viewer->chosen;
	if (viewer->chosen >= viewer->first + height)
		viewer->first = viewer->chosen - height + 1;
}

static void put_in_order(struct viewer *viewer)
{
	size_t *index = realloc(viewer->index, (viewer->glance.count + 1) * sizeof(*index));

	viewer->shown = 0;
	if (!index)
		return;
	viewer->index = index;
	viewer->shown = order_rows(&viewer->glance, &viewer->order, index);
	keep_in_sight(viewer);
}

static void move_choice(struct viewer *viewer, int key)
{
	const size_t step = viewer_height(viewer);

	if (key == KEY_ROW_UP)
		viewer->chosen -= viewer->chosen > 0;
	else if (key == KEY_ROW_DOWN)
		viewer->chosen++;
	else if (key == KEY_PAGE_UP)
		viewer->chosen -= viewer->chosen < step ? viewer->chosen : step;
	else if (key == KEY_PAGE_DOWN)
		viewer->chosen += step;
	else
		viewer->chosen = key == KEY_FIRST || !viewer->shown ? 0 : viewer->shown - 1;
	keep_in_sight(viewer);
}

static void show_stack(struct viewer *viewer)
{
	if (viewer->chosen >= viewer->shown)
		return;
	const struct glance_row *row = &viewer->glance.row[viewer->index[viewer->chosen]];
	char title[512];

	snprintf(title, sizeof(title), "%s  %s%s", row->row.name, row->row.source,
		 row->row.kind == HI_ROW_FUNCTION ? "  (the stack that holds most)" : "");
	page_open(&viewer->page, title, *row->stack ? row->stack : "no frames\n");
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void type(struct viewer *viewer, int key)
{
	char *filter = viewer->order.filter;
	const size_t size = strlen(filter);

	if (key == KEY_CHOOSE || key == KEY_BACK)
		viewer->is_typing = false;
	if (key == KEY_BACK)
		filter[0] = 0;
	else if (key == KEY_RUBOUT && size)
		filter[size - 1] = 0;
	else if (key >= ' ' && key <= '~' && size + 1 < ORDER_FILTER_MAX)
		snprintf(filter + size, 2, "%c", key);
	put_in_order(viewer);
}

static void order_by(struct viewer *viewer, enum order_key key)
{
	viewer->order.key = key;
	viewer->chosen = viewer->first = 0;
	put_in_order(viewer);
}

/* Keys that change what is shown. False: it is another one. */
static bool show_key(struct viewer *viewer, int key)
{
	static const char orders[ORDER_KEYS + 1] = "vglan";
	const char *order = key >= ' ' && key <= '~' ? strchr(orders, key) : NULL;

	if (order)
		order_by(viewer, (enum order_key)(order - orders));
	else if (key == 'o')
		order_by(viewer, (viewer->order.key + 1) % ORDER_KEYS);
	else if (key == 'f') {
		viewer->order.kind =
			viewer->order.kind == HI_ROW_STACK ? HI_ROW_FUNCTION : HI_ROW_STACK;
		order_by(viewer, viewer->order.key);
	} else if (key == 's')
		viewer->shows_source = !viewer->shows_source;
	else if (key == '/')
		viewer->is_typing = true;
	else if (key == '?' || key == 'h')
		page_open(&viewer->page, "heapinject top", help_text);
	else if (key == KEY_CHOOSE)
		show_stack(viewer);
	else if (key >= KEY_ROW_UP && key <= KEY_LAST)
		move_choice(viewer, key);
	else
		return false;
	return true;
}

/* Keys to the session. */
static void steer_key(struct viewer *viewer, int key)
{
	if (viewer->phase != VIEWER_LIVE)
		return;
	if (key == 'd')
		viewer_begin_request(viewer, REQUEST_DUMP);
	else if (key == 'p' && viewer->glance.status.paused)
		viewer_begin_request(viewer, REQUEST_PAUSE);
	else if (key == 'p')
		viewer->question = ASKS_PAUSE;
	else if (key == 'D')
		viewer->question = ASKS_DETACH;
	else if (key == 'r')
		viewer->next_ns = 0;
}

enum leaving { STAYS, GOES_BACK, ENDS };

static enum leaving answer_key(struct viewer *viewer, int key)
{
	const enum viewer_question question = viewer->question;

	viewer->question = ASKS_NOTHING;
	if (question == ASKS_PAUSE && (key == 'y' || key == 'Y'))
		viewer_begin_request(viewer, REQUEST_PAUSE);
	if ((question == ASKS_DETACH && (key == 'y' || key == 'Y')) ||
	    (question == ASKS_LEAVE && key == 'e'))
		viewer_begin_request(viewer, REQUEST_DETACH);
	return question == ASKS_LEAVE && key == 'l' ? ENDS : STAYS;
}

static enum leaving take_key(struct viewer *viewer, int key)
{
	if (viewer->page.text) {
		if (!page_key(&viewer->page, key))
			page_close(&viewer->page);
		return STAYS;
	}
	if (viewer->is_typing) {
		type(viewer, key);
		return STAYS;
	}
	if (viewer->question)
		return answer_key(viewer, key);
	if (viewer->phase == VIEWER_OFFERS) {
		if (key == 'y' || key == 'Y') {
			viewer->phase = VIEWER_BEGINS;
			viewer_begin_request(viewer, REQUEST_BEGIN);
		}
		return key == 'q' || key == 'n' ? ENDS : key == KEY_BACK ? GOES_BACK : STAYS;
	}
	if (key == 'q' && viewer->is_begun)
		viewer->question = ASKS_LEAVE;
	else if (key == 'q')
		return ENDS;
	else if (!show_key(viewer, key))
		steer_key(viewer, key);
	return STAYS;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void note_memory(struct viewer *viewer, uint64_t now_ns)
{
	struct proc_status status;
	const size_t newest = (viewer->memory.looks - 1) % PROCESSES_LOOKS;

	if ((viewer->memory.looks && now_ns - viewer->memory.time_ns[newest] < 900000000ull) ||
	    proc_status_read(viewer->pid, viewer->pid, &status))
		return;
	memcpy(viewer->memory.comm, status.comm, sizeof(viewer->memory.comm));
	process_note(&viewer->memory, status.resident_bytes, now_ns);
}

static enum leaving take_keys(struct viewer *viewer)
{
	enum leaving leaving = STAYS;
	int key;

	while (leaving == STAYS && (key = screen_key()) != KEY_NONE)
		leaving = take_key(viewer, key);
	return leaving;
}

bool viewer_run(struct viewer *viewer, struct events *events)
{
	enum leaving leaving = STAYS;

	do {
		const uint64_t now_ns = clock_ns();

		if (job_look(&viewer->glance_job) && viewer_end_look(viewer, now_ns))
			put_in_order(viewer);
		if (job_look(&viewer->request_job))
			viewer_end_request(viewer, now_ns);
		if ((viewer->phase == VIEWER_JOINS || viewer->phase == VIEWER_LIVE) &&
		    now_ns >= viewer->next_ns)
			viewer_begin_look(viewer, now_ns);
		note_memory(viewer, now_ns);
		keep_in_sight(viewer);
		viewer_draw(viewer, now_ns);
		const int fds[] = {viewer->glance_job.fd, viewer->request_job.fd};
		if (!events_wait(events, fds, 2, TICK_MS))
			return false;
		leaving = take_keys(viewer);
	} while (leaving == STAYS);
	return leaving == GOES_BACK;
}

void viewer_close(struct viewer *viewer)
{
	job_close(&viewer->glance_job);
	job_close(&viewer->request_job);
	glance_close(&viewer->glance);
	page_close(&viewer->page);
	free(viewer->index);
	free(viewer->receipt);
	viewer->index = NULL;
	viewer->receipt = NULL;
}
