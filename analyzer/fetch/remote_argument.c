/* SPDX-License-Identifier: MIT */
/* remote_argument.c - see remote_argument.h. */
#include "remote_argument.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote_url.h"

struct whole {
	struct whole *next;
	const char *argument; /* what is left of it */
	char *url;
};
static struct whole *all;

bool remote_argument_is(const char *argument)
{
	return remote_url_is(argument) && access(argument, F_OK) != 0;
}

const char *remote_argument_take(char *argument)
{
	const char *complaint = remote_url_check(argument);
	struct whole *whole;

	if (complaint)
		return complaint;
	whole = calloc(1, sizeof(*whole));
	char *url = strdup(argument);
	if (!whole || !url || !remote_url_hide(argument)) {
		complaint = whole && url ? NULL : "out of memory";
		free(whole);
		free(url);
		return complaint;
	}
	*whole = (struct whole){.next = all, .argument = argument, .url = url};
	all = whole;
	return NULL;
}

const char *remote_argument_url(const char *argument)
{
	for (const struct whole *whole = all; whole; whole = whole->next) {
		if (whole->argument == argument)
			return whole->url;
	}
	return argument;
}
