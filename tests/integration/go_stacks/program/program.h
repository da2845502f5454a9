/* SPDX-License-Identifier: MIT */
#include <stddef.h>

/* Allocates so much, and keeps it. */
void keep(size_t bytes);
/* Calls go_called_by_c. */
void call_go(size_t bytes);
void go_called_by_c(size_t bytes);
