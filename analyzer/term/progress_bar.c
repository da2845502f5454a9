/* SPDX-License-Identifier: MIT */
/*
 * progress_bar.c - see progress_bar.h. draw() is the signal handler. It may only call functions
 * that are safe in one, so it builds its line by hand.
 */
#include "progress_bar.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_MS 1000
#define REDRAW_MS 200
#define WIDTH 20u /* of the bar */
#define LINE_SIZE 128u
#define NO_FILE (-1)

#define CLEAR "\r\033[K"

/*
 * The program writes these, and the signal handler reads them in between: each atomic word by
 * itself.
 */
static struct {
	atomic_bool is_open, is_shown;
	_Atomic(const char *) phase;
	atomic_int fd;
	_Atomic int64_t size; /* of fd; 0 = unknown */
	atomic_size_t done, total, part, parts;
	timer_t timer;
	struct timespec began;
	struct sigaction before;
} bar;

#define SET(field, value) atomic_store_explicit(&bar.field, value, memory_order_relaxed)
#define GET(field) atomic_load_explicit(&bar.field, memory_order_relaxed)

/* ---- the line -------------------------------------------------------------------------------- */

struct line {
	char text[LINE_SIZE];
	size_t size;
};

static void put_text(struct line *line, const char *text)
{
	while (*text && line->size < sizeof(line->text))
		line->text[line->size++] = *text++;
}

static void put_number(struct line *line, size_t number)
{
	char digits[24], *at = digits + sizeof(digits) - 1;

	*at = 0;
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	put_text(line, at);
}

static void put_share(struct line *line, size_t done, size_t total)
{
	const double share = done < total ? (double)done / (double)total : 1;
	const size_t marks = (size_t)(share * WIDTH);

	put_text(line, " [");
	for (size_t i = 0; i < WIDTH; i++)
		put_text(line, i < marks ? "#" : " ");
	put_text(line, "] ");
	put_number(line, (size_t)(share * 100));
	put_text(line, "%");
}

static void put_elapsed(struct line *line)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now))
		return;
	put_text(line, ", ");
	put_number(line,
		   (size_t)(now.tv_sec - bar.began.tv_sec) - (now.tv_nsec < bar.began.tv_nsec));
	put_text(line, " s");
}

static void put_state(struct line *line)
{
	const size_t parts = GET(parts), part = GET(part), total = GET(total);
	const int64_t size = GET(size),
		      offset = size > 0 ? (int64_t)lseek(GET(fd), 0, SEEK_CUR) : -1;

	put_text(line, CLEAR "heapinject: ");
	put_text(line, GET(phase));
	if (parts > 1) {
		put_text(line, " ");
		put_number(line, part + 1);
		put_text(line, " of ");
		put_number(line, parts);
		put_share(line, part, parts);
	} else if (offset >= 0)
		put_share(line, (size_t)offset, (size_t)size);
	else if (total)
		put_share(line, GET(done), total);
	else
		put_elapsed(line);
}

/*
 * A terminal that takes no output at the moment must not hold up the report. A terminal that
 * belongs to another job is left alone.
 */
static bool is_welcome(void)
{
	struct pollfd writable = {.fd = STDERR_FILENO, .events = POLLOUT};
	const pid_t foreground = tcgetpgrp(STDERR_FILENO);

	return (foreground < 0 || foreground == getpgrp()) && poll(&writable, 1, 0) == 1;
}

static void draw(int signal)
{
	const int err = errno;
	struct line line = {.size = 0};

	(void)signal;
	if (GET(is_open) && GET(phase) && is_welcome()) {
		put_state(&line);
		SET(is_shown, write(STDERR_FILENO, line.text, line.size) > 0);
	}
	errno = err;
}

/* ---- its life -------------------------------------------------------------------------------- */

static void set_timer(long first_ms)
{
	const struct itimerspec times = {
		.it_value = {.tv_sec = first_ms / 1000, .tv_nsec = first_ms % 1000 * 1000000},
		.it_interval = {.tv_nsec = REDRAW_MS * 1000000},
	};

	timer_settime(bar.timer, 0, &times, NULL);
}

static void clear(void)
{
	if (GET(is_shown) && write(STDERR_FILENO, CLEAR, strlen(CLEAR)) < 0)
		return; /* then there is nobody to see it */
	SET(is_shown, false);
}

void progress_bar_open(void)
{
	const char *terminal = getenv("TERM");
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = PROGRESS_BAR_SIGNAL};
	struct sigaction action = {.sa_handler = draw, .sa_flags = SA_RESTART};

	if (GET(is_open) || !isatty(STDERR_FILENO) || !terminal || strcmp(terminal, "dumb") == 0)
		return;
	if (clock_gettime(CLOCK_MONOTONIC, &bar.began) ||
	    sigaction(PROGRESS_BAR_SIGNAL, &action, &bar.before))
		return;
	if (timer_create(CLOCK_MONOTONIC, &event, &bar.timer)) {
		sigaction(PROGRESS_BAR_SIGNAL, &bar.before, NULL);
		return;
	}
	progress_bar_phase(NULL);
	SET(parts, 0);
	SET(is_open, true);
	set_timer(FIRST_MS);
}

void progress_bar_close(void)
{
	if (!GET(is_open))
		return;
	SET(is_open, false);
	timer_delete(bar.timer);
	sigaction(PROGRESS_BAR_SIGNAL, &bar.before, NULL);
	clear();
}

void progress_bar_phase(const char *name)
{
	SET(fd, NO_FILE);
	SET(size, 0);
	SET(total, 0);
	SET(phase, name);
}

void progress_bar_share(size_t done, size_t total)
{
	SET(done, done);
	SET(total, total);
}

void progress_bar_file(int fd)
{
	struct stat status;

	if (!GET(is_open) || fstat(fd, &status) || !S_ISREG(status.st_mode))
		return;
	SET(fd, fd);
	SET(size, status.st_size);
}

void progress_bar_part(size_t part, size_t parts)
{
	SET(part, part);
	SET(parts, parts);
}

void progress_bar_hide(void)
{
	if (!GET(is_open))
		return;
	/* else the timer might draw it again at once */
	set_timer(GET(is_shown) ? REDRAW_MS : FIRST_MS);
	clear();
}
