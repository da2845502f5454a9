/* SPDX-License-Identifier: MIT */
/*
 * shared_library.h - libraries that the program uses only if they are installed.
 *
 * The static program (make STATIC=1) loads none: a library would bring the machine's own libc with
 * it, which is another version than the one that is linked in, and loading that ends the program
 * with a signal. It has shared_library_static.c instead of shared_library.c.
 */
#ifndef HI_SHARED_LIBRARY_H
#define HI_SHARED_LIBRARY_H

#include <stdbool.h>

/* May libraries be loaded? If not, libc must not load any either (character sets, users' names). */
bool shared_library_is_loadable(void);
/* file: its soname. NULL = not there. */
void *shared_library_open(const char *file);
void shared_library_close(void *library);
/* Stores the function in *out_function, which is a pointer to a function. False = not there. */
bool shared_library_find(void *library, const char *function, void *out_function);

#endif
