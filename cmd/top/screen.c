/* SPDX-License-Identifier: MIT */
/* screen.c - see screen.h. */
#include "screen.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "hi_exit.h"

#define ESCAPE_MS 25 /* how long the rest of a key's sequence may take */
#define CONTROL(letter) ((letter)&0x1f)

static struct {
	bool is_open, has_colour, has_bars;
	FILE *out;
	SCREEN *screen;
	struct termios before;
} own;

/* ---- open and close -------------------------------------------------------------------------- */

static int complain(const char *what)
{
	fprintf(stderr,
		"heapinject top: %s; `heapinject status` and `heapinject dump PID -o - | "
		"heapinject report -` print the same\n",
		what);
	return HI_EXIT_USAGE;
}

/* Whether the terminal can move its cursor. */
static bool is_capable(const char *name)
{
	int err;

	if (!name || !*name || setupterm(name, STDOUT_FILENO, &err) != OK)
		return false;
	const char *move = tigetstr("cup");
	const bool can_move = move && move != (const char *)-1;

	del_curterm(cur_term);
	return can_move;
}

/*
 * UTF-8 only: for other character sets libc loads a library, which a static program cannot do.
 */
static void choose_bars(void)
{
	setlocale(LC_CTYPE, "");
	own.has_bars = !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (!own.has_bars)
		setlocale(LC_CTYPE, "C");
}

static void choose_colours(void)
{
	const char *none = getenv("NO_COLOR");

	own.has_colour = !(none && *none) && has_colors();
	if (!own.has_colour)
		return;
	start_color();
	use_default_colors();
	init_pair(SCREEN_BAD, COLOR_RED, -1);
	init_pair(SCREEN_DOUBT, COLOR_YELLOW, -1);
	init_pair(SCREEN_GOOD, COLOR_GREEN, -1);
}

/* The stream is ncurses' own: none of this program's output comes between. */
static bool open_stream(void)
{
	const int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);

	own.out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!own.out && copy >= 0)
		close(copy);
	return own.out;
}

static void set_modes(void)
{
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
}

int screen_check(void)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return complain("standard input or output is no terminal");
	if (!is_capable(getenv("TERM")))
		return complain("this terminal (TERM) cannot move its cursor");
	return HI_EXIT_OK;
}

int screen_open(void)
{
	if (tcgetattr(STDIN_FILENO, &own.before) || !open_stream())
		return complain("the terminal cannot be used");
	choose_bars();
	set_escdelay(ESCAPE_MS);
	own.screen = newterm(NULL, own.out, stdin);
	if (!own.screen) {
		fclose(own.out);
		return complain("the terminal cannot be used");
	}
	own.is_open = true;
	choose_colours();
	set_modes();
	screen_resize();
	return HI_EXIT_OK;
}

void screen_close(void)
{
	if (!own.is_open)
		return;
	own.is_open = false;
	endwin();
	delscreen(own.screen);
	fclose(own.out);
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &own.before);
}

void screen_resume(void)
{
	reset_prog_mode();
	screen_resize();
	clearok(curscr, TRUE);
	refresh();
}

void screen_suspend(void)
{
	endwin();
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &own.before);
}

void screen_resize(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

/* ---- drawing --------------------------------------------------------------------------------- */

int screen_rows(void)
{
	return getmaxy(stdscr);
}

int screen_columns(void)
{
	return getmaxx(stdscr);
}

void screen_clear(void)
{
	erase();
}

void screen_clear_line(int row)
{
	if (row < 0 || row >= screen_rows())
		return;
	move(row, 0);
	clrtoeol();
}

static attr_t attributes(enum screen_style style)
{
	switch (style) {
	case SCREEN_STRONG:
		return A_BOLD;
	case SCREEN_HEADING:
		return A_UNDERLINE;
	case SCREEN_CHOSEN:
		return A_REVERSE;
	case SCREEN_WEAK:
		return A_DIM;
	case SCREEN_BAD:
	case SCREEN_DOUBT:
	case SCREEN_GOOD:
		return (own.has_colour ? COLOR_PAIR(style) : A_NORMAL) |
		       (style == SCREEN_BAD ? A_BOLD : A_NORMAL);
	default:
		return A_NORMAL;
	}
}

void screen_put(int row, int column, int width, enum screen_style style, const char *text)
{
	char line[1024];
	int size = 0;

	if (row < 0 || row >= screen_rows() || column < 0 || column >= screen_columns())
		return;
	if (width > screen_columns() - column)
		width = screen_columns() - column;
	for (; text[size] && size < width && size < (int)sizeof(line) - 1; size++)
		line[size] = text[size] >= ' ' && text[size] <= '~' ? text[size] : '?';
	line[size] = 0;
	attrset(attributes(style));
	mvaddnstr(row, column, line, size);
	attrset(A_NORMAL);
}

void screen_bars(int row, int column, const uint8_t *height, size_t count)
{
	static const char plain[] = " ._-=+*#@";
	/* a space, and U+2581 to U+2588 */
	static const char *const bars[] = {" ",
					   "\342\226\201",
					   "\342\226\202",
					   "\342\226\203",
					   "\342\226\204",
					   "\342\226\205",
					   "\342\226\206",
					   "\342\226\207",
					   "\342\226\210"};

	for (size_t i = 0; i < count && column + (int)i < screen_columns(); i++) {
		const size_t at = height[i] < 8 ? height[i] : 8;

		if (own.has_bars)
			mvaddstr(row, column + (int)i, bars[at]);
		else
			mvaddch(row, column + (int)i, (chtype)plain[at]);
	}
}

void screen_show(void)
{
	refresh();
}

/* ---- keys ------------------------------------------------------------------------------------ */

int screen_key(void)
{
	const int key = getch();

	switch (key) {
	case ERR:
		return KEY_NONE;
	case KEY_UP:
		return KEY_ROW_UP;
	case KEY_DOWN:
		return KEY_ROW_DOWN;
	case KEY_PPAGE:
		return KEY_PAGE_UP;
	case KEY_NPAGE:
		return KEY_PAGE_DOWN;
	case KEY_HOME:
		return KEY_FIRST;
	case KEY_END:
		return KEY_LAST;
	case KEY_ENTER:
	case '\r':
	case '\n':
		return KEY_CHOOSE;
	case CONTROL('['):
		return KEY_BACK;
	case KEY_BACKSPACE:
	case 0x7f:
	case CONTROL('h'):
		return KEY_RUBOUT;
	default:
		return key >= ' ' && key <= '~' ? key : KEY_OTHER;
	}
}
