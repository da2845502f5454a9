/* SPDX-License-Identifier: MIT */
/* stopped_print.h - how long a process was stopped to look at it. */
#ifndef HI_STOPPED_PRINT_H
#define HI_STOPPED_PRINT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct stopped {
	unsigned times; /* 0: it ran on */
	uint64_t ns;    /* the longest */
	size_t threads;
};

/* "stopped for 12.3 ms (5 threads)" */
void stopped_print(const struct stopped *stopped, FILE *out);
/* Members of an object: "stopped_times":1,... */
void stopped_print_json(const struct stopped *stopped, FILE *out);

#endif
