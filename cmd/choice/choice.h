/* SPDX-License-Identifier: MIT */
/* choice.h - the processes that a user means: by name, cgroup, unit of systemd, or TCP port. */
#ifndef HI_CHOICE_H
#define HI_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "processes_found.h"

/* One of them is given. */
struct choice {
	/* of the process (comm), or the last part of its executable's path */
	const char *name;
	const char *cgroup, *unit; /* cgroup_find.h */
	uint16_t port;             /* 0 = not given */
};

bool choice_is_given(const struct choice *choice);
/* Finds them, by pid. 0 with none, if there is none; or negative errno as of the room's finders. */
must_check int choice_find(const struct choice *choice, struct processes_found *out_found);

#define CHOICE_TEXT_MAX 320u
/* What is wanted, in words that follow "process" or "processes": "called nginx". */
const char *choice_describe(const struct choice *choice, char text[CHOICE_TEXT_MAX]);
/* Why there is none, as one sentence. err: of choice_find(). */
const char *choice_explain(const struct choice *choice, int err, char text[CHOICE_TEXT_MAX]);

#endif
