/* SPDX-License-Identifier: MIT */
/*
 * progress_bar.h - a line on standard error that says how far a report is, where that takes more than a second. Only on a terminal, and gone afterwards.
 *
 * The signal of a timer draws it, so that what takes long is not slowed down, and need not even know of it: someone names the phase, and who can tell says how
 * much of it is done. There is one, and it belongs to the process that opened it; where it is not open everything here does nothing.
 */
#ifndef HI_PROGRESS_BAR_H
#define HI_PROGRESS_BAR_H

#include <signal.h>
#include <stddef.h>

#define PROGRESS_BAR_SIGNAL SIGRTMIN

/* The second begins. Nothing where standard error is no terminal that moves its cursor. */
void progress_bar_open(void);
void progress_bar_close(void);
/* What goes on from now on, as a literal; how much of it is done is not known at first. */
void progress_bar_phase(const char *name);
/* So many of so many are done. */
void progress_bar_share(size_t done, size_t total);
/* As much is done as has been read of this file, where that can be told. It must be open until the next phase. */
void progress_bar_file(int fd);
/* The phases are those of one of several files, counted from 0; how many of them are done is what is shown then. */
void progress_bar_part(size_t part, size_t parts);
/* Takes the line away for a moment, so that another one can be written to the terminal. */
void progress_bar_hide(void);

#endif
