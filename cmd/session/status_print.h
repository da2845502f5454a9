/* SPDX-License-Identifier: MIT */
/* status_print.h - what `heapinject status` prints of each session. */
#ifndef HI_STATUS_PRINT_H
#define HI_STATUS_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "status_fields.h"

/* A few lines, the first of which names the process. */
void status_print_text(const struct status_fields *fields, FILE *out);
/* An object; heapinject(1) has its members. */
void status_print_json(const struct status_fields *fields, FILE *out);

#endif
