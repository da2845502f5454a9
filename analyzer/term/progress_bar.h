/* SPDX-License-Identifier: MIT */
/*
 * progress_bar.h - a line on standard error that shows how far a report is, if it takes more than a
 * second. Only on a terminal; the line is removed afterwards.
 *
 * The handler of a timer signal draws it. So the work is not slowed down, and need not know of the
 * bar: a caller names the phase, and code that knows its progress reports it. There is one bar, and
 * it belongs to the process that opened it. While it is not open, all functions here do nothing.
 */
#ifndef HI_PROGRESS_BAR_H
#define HI_PROGRESS_BAR_H

#include <signal.h>
#include <stddef.h>

#define PROGRESS_BAR_SIGNAL SIGRTMIN

/*
 * Opens the bar; the first second begins. Does nothing if standard error is not a terminal that can
 * move its cursor.
 */
void progress_bar_open(void);
void progress_bar_close(void);
/*
 * Names the phase that begins, by a string literal. How much of it is done is not known at first.
 */
void progress_bar_phase(const char *name);
/* `done` of `total` are done. */
void progress_bar_share(size_t done, size_t total);
/*
 * The progress is the share of this file that has been read, if that can be known. The file must
 * stay open until the next phase.
 */
void progress_bar_file(int fd);
/*
 * The next phases belong to file number `part`, from 0, of `parts` files. The bar then shows how
 * many files are done.
 */
void progress_bar_part(size_t part, size_t parts);
/* Takes the line away for a moment, so that another one can be written to the terminal. */
void progress_bar_hide(void);

#endif
