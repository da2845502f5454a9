/* SPDX-License-Identifier: MIT */
/* metrics.h - the sessions in the text format of Prometheus. */
#ifndef HI_SERVE_METRICS_H
#define HI_SERVE_METRICS_H

#include <stdio.h>

#include "serve_options.h"
#include "status_fields.h"

#define SERVE_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Asks the sessions. 0 or -ENOMEM. */
must_check int serve_metrics_write(const struct serve_options *options, FILE *out);
/* Of these sessions. */
void serve_metrics_print(const struct status_fields *fields, size_t count, FILE *out);

#endif
