/* SPDX-License-Identifier: MIT */
/*
 * remote_argument.h - arguments of a command line that are URLs.
 *
 * An argument is printed, becomes a name in a page, and other users of the machine see it. So what
 * may be secret in a URL is taken out of the argument itself, and remembered beside it, by its
 * address. Arguments live as long as the process, and so does what is remembered. Single-threaded.
 */
#ifndef HI_REMOTE_ARGUMENT_H
#define HI_REMOTE_ARGUMENT_H

#include <stdbool.h>

/* True if it is a URL, and there is no file of this name. */
bool remote_argument_is(const char *argument);
/* Hides what may be secret, in place. NULL, or what is wrong with the URL, which is then unfit. */
const char *remote_argument_take(char *argument);
/* The URL as it was given. */
const char *remote_argument_url(const char *argument);

#endif
