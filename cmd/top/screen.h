/* SPDX-License-Identifier: MIT */
/*
 * screen.h - the terminal as a screen of cells, and its keys. Its .c is the only file that uses
 * ncurses.
 *
 * What is drawn becomes printable ASCII: names that a program has chosen cannot control the
 * terminal. Without colours (NO_COLOR, or a terminal that has none) styles differ by brightness.
 */
#ifndef HI_TOP_SCREEN_H
#define HI_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum screen_style {
	SCREEN_PLAIN,
	SCREEN_STRONG,
	SCREEN_HEADING,
	SCREEN_CHOSEN,
	SCREEN_WEAK,
	SCREEN_BAD,
	SCREEN_DOUBT,
	SCREEN_GOOD,
};

/* Keys without a character; others are their character. */
enum screen_key {
	KEY_NONE = -1,
	KEY_OTHER = 0, /* one that has no meaning here */
	KEY_ROW_UP = 0x1000,
	KEY_ROW_DOWN,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_FIRST,
	KEY_LAST,
	KEY_CHOOSE, /* enter */
	KEY_BACK,   /* escape */
	KEY_RUBOUT,
};

/*
 * Whether the terminal can be used, before anything is changed. As screen_open(), returns an exit
 * code of hi_exit.h; unless it is HI_EXIT_OK an error was printed.
 */
int screen_check(void);
int screen_open(void);
/* Leaves the terminal as it was before screen_open(). May be called twice. */
void screen_close(void);
/* After the process was stopped: takes the terminal again, as large as it is now. */
void screen_resume(void);
/* Gives the terminal back while the process is stopped. */
void screen_suspend(void);
/* The terminal has another size. */
void screen_resize(void);
int screen_rows(void);
int screen_columns(void);
void screen_clear(void);
void screen_clear_line(int row);
/* Text that does not fit into `width` cells, or onto the screen, is cut. */
void screen_put(int row, int column, int width, enum screen_style style, const char *text);
/* height: of each bar, from 0 to 8 */
void screen_bars(int row, int column, const uint8_t *height, size_t count);
/* Shows what was drawn. */
void screen_show(void);
int screen_key(void);

#endif
