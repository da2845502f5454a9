/* SPDX-License-Identifier: MIT */
/*
 * type_names.h - the end of a command that has read another process's memory: it gives up its
 * rights, before it turns names that the process has chosen into readable ones.
 */
#ifndef HI_TYPE_NAMES_H
#define HI_TYPE_NAMES_H

#include <stdio.h>

#include "must_check.h"

/*
 * Gives up all rights and closes all files but the standard output and error, and *file if there is
 * one, for good; NULL: there is none. Returns the stream to print to, or NULL: the rights could not
 * be given up, and nothing of the process must be printed that was not checked. The process may
 * only print and exit after that.
 */
FILE *type_names_give_up_rights(int *file);
/* A new string, without control characters, to be freed by the caller. mangled: typeid(T).name() */
char *type_names_readable(const char *mangled);
/* The same of a variable, by its symbol. */
char *type_names_variable(const char *symbol);

#endif
