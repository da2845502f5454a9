/* SPDX-License-Identifier: MIT */
/* serve_options.h - what is served, where, and to whom. */
#ifndef HI_SERVE_OPTIONS_H
#define HI_SERVE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SERVE_PIDS_MAX 256u

struct serve_options {
	pid_t pid[SERVE_PIDS_MAX]; /* whose sessions are served; none = all that the caller may ask
				    */
	size_t pid_count;
	const char *host;  /* an address of this machine, or localhost */
	uint16_t port;     /* 0 = any that is free */
	uint64_t every_ns; /* between two profiles that are kept */
	/*
	 * Begins a session, as `attach --detached`, in a process of its own; NULL = pages may
	 * neither attach nor detach.
	 */
	int (*attach)(pid_t pid);
	/*
	 * Runs explain, census, leaks or owners, in a process of its own: prints, as the command
	 * does, and returns its exit code. seconds: from the first look to the last, 0 = as it is
	 * without that option. NULL = pages may not inspect.
	 */
	int (*inspect)(const char *command, pid_t pid, unsigned seconds, bool as_json);
	const char *token; /* the file that has it, - = standard input, NULL = none is given */
};

#endif
