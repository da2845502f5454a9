/* SPDX-License-Identifier: MIT */
/* joined_names.c - see joined_names.h. */
#include "joined_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "printable.h"

#define INLINED "--"
#define LINES_MAX 256u /* inlined calls at one address */

/*
 * Cuts the address off "main<00000000000011ef>": jeprof tells functions of one name apart by their
 * addresses in the file.
 */
static void drop_address(char *name)
{
	char *open = strrchr(name, '<');

	if (open && open > name && strspn(open + 1, "0123456789abcdef") == 16 &&
	    strcmp(open + 17, ">") == 0)
		*open = 0;
}

int joined_names_apply(struct profile_frame *frame, char *names)
{
	struct profile_line line[LINES_MAX] = {{0}};
	size_t count = 0;
	char *inlined;
	int err = 0;

	do {
		inlined = NULL;
		for (char *at = names; *at && !inlined; at++) {
			if (at > names && strncmp(at, INLINED, strlen(INLINED)) == 0)
				inlined = at;
		}
		if (inlined)
			*inlined = 0;
		drop_address(names);
		printable(names);
		line[count].system_name = names;
		line[count].function = demangle(names, false);
		err = line[count].function ? 0 : -ENOMEM;
		count++;
		names = inlined ? inlined + strlen(INLINED) : NULL;
	} while (names && *names && count < LINES_MAX && !err);
	for (size_t i = 0; i < count / 2; i++) {
		const struct profile_line swapped = line[i];

		line[i] = line[count - 1 - i];
		line[count - 1 - i] = swapped;
	}
	if (!err)
		err = profile_frame_lines(frame, line, count);
	for (size_t i = 0; i < count; i++)
		free(line[i].function);
	return err;
}
