/* SPDX-License-Identifier: MIT */
/*
 * watch_code.h - follows the code that a JVM of the target makes and drops (hotspot.h), so that
 * stacks through it are walked by its frames. Looking stops no thread.
 */
#ifndef HI_WATCH_CODE_H
#define HI_WATCH_CODE_H

#include "attachment.h"
#include "pump.h"

/* Finds a JVM among the objects; before the arena exists, also sets its room aside. */
void watch_code_begin(struct attachment *attachment);
/*
 * Reads the code for the next publisher_publish_tables, if there is a JVM. True: it has changed.
 */
bool watch_code_read(struct attachment *attachment);
/*
 * Reads the code if it is time, and publishes what has changed: every second, and soon if a stack
 * could not be followed.
 */
void watch_code_round(struct attachment *attachment, struct pump *pump);

#endif
