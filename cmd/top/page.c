/* SPDX-License-Identifier: MIT */
/* page.c - see page.h. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "screen.h"

/* Size of the part of a line that fits into `width`, if possible up to a space. */
static size_t part_of(const char *text, size_t width)
{
	const size_t size = strcspn(text, "\n");
	size_t end = width;

	if (size <= width)
		return size;
	while (end > width / 2 && text[end] != ' ')
		end--;
	return end > width / 2 ? end : width;
}

/* Moves behind it, its newline, or the space at which it was broken. */
static const char *behind(const char *text, size_t size)
{
	text += size;
	return text + (*text == '\n' || *text == ' ');
}

static size_t width_now(void)
{
	return screen_columns() > 1 ? (size_t)screen_columns() : 1;
}

static int draw_lines(const char *text, size_t first, int row, int height)
{
	size_t line = 0;
	int drawn = 0;

	while (*text && drawn < height) {
		const size_t size = part_of(text, width_now());

		if (line++ >= first)
			screen_put(row + drawn++, 0, (int)size, SCREEN_PLAIN, text);
		text = behind(text, size);
	}
	return drawn;
}

int page_wrap(const char *text, int row, int height)
{
	return draw_lines(text, 0, row, height);
}

size_t page_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; lines++)
		text = behind(text, part_of(text, width_now()));
	return lines;
}

void page_open(struct page *page, const char *title, const char *text)
{
	page_close(page);
	page->title = strdup(title);
	page->text = strdup(text);
	if (!page->title || !page->text)
		page_close(page);
}

void page_close(struct page *page)
{
	free(page->title);
	free(page->text);
	*page = (struct page){0};
}

static size_t height_now(void)
{
	return screen_rows() > 3 ? (size_t)screen_rows() - 2 : 1;
}

static size_t last_first(const struct page *page)
{
	const size_t lines = page_lines(page->text);

	return lines > height_now() ? lines - height_now() : 0;
}

void page_draw(struct page *page)
{
	if (page->first > last_first(page))
		page->first = last_first(page);
	screen_put(0, 0, screen_columns(), SCREEN_STRONG, page->title);
	draw_lines(page->text, page->first, 1, (int)height_now());
	screen_put(screen_rows() - 1, 0, screen_columns(), SCREEN_WEAK,
		   "up, down, page up, page down: scroll   any other key: back");
}

bool page_key(struct page *page, int key)
{
	const size_t last = last_first(page), step = height_now();

	switch (key) {
	case KEY_ROW_UP:
		page->first -= page->first > 0;
		return true;
	case KEY_ROW_DOWN:
		page->first += page->first < last;
		return true;
	case KEY_PAGE_UP:
		page->first -= page->first < step ? page->first : step;
		return true;
	case KEY_PAGE_DOWN:
		page->first = page->first + step < last ? page->first + step : last;
		return true;
	case KEY_FIRST:
		page->first = 0;
		return true;
	case KEY_LAST:
		page->first = last;
		return true;
	default:
		return false;
	}
}
