/* SPDX-License-Identifier: MIT */
/* made_files.h - files in a directory of the case's own, as below /sys/fs/cgroup. */
#ifndef HI_TEST_MADE_FILES_H
#define HI_TEST_MADE_FILES_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit.h"

static char made_root[] = "/tmp/made_files.XXXXXX"; /* made_begin() completes it */

static inline void made_begin(void)
{
	CHECK(mkdtemp(made_root));
}

static inline void made_end(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", made_root);
	CHECK_EQ(system(command), 0);
}

/* Writes made_root/PATH; directories are made as needed. */
static inline void made_put(const char *path, const char *text)
{
	char whole[PATH_MAX];

	CHECK(snprintf(whole, sizeof(whole), "%s/%s", made_root, path) < (int)sizeof(whole));
	for (char *at = whole + strlen(made_root) + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = 0;
		mkdir(whole, 0700);
	}
	FILE *file = fopen(whole, "w");
	CHECK(file);
	fputs(text, file);
	fclose(file);
}

#endif
