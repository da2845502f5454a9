/* SPDX-License-Identifier: MIT */
/*
 * events.h - what top waits for: keys, its jobs, signals, the next second. Signals come as events,
 * so that the terminal is always left as it was; Ctrl-Z and fg are dealt with here.
 */
#ifndef HI_TOP_EVENTS_H
#define HI_TOP_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "must_check.h"

struct events {
	int signal_fd;
	int ended_by; /* signal that ends the program; 0 = none so far */
};

/* To be called before screen_open(). 0 or negative errno. */
must_check int events_open(struct events *events);
/*
 * Waits until there is a key, one of fds (-1 = none) has something, a signal came, or the time is
 * over. False: a signal asks the program to end, or the terminal has gone.
 */
bool events_wait(struct events *events, const int *fds, size_t count, int timeout_ms);

#endif
