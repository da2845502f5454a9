/* SPDX-License-Identifier: MIT */
/*
 * records.h - takes a byte stream apart into records that can be trusted in form: include/hi_stream.h is the format.
 *
 * A record that records_next() hands out lies whole in memory, aligned, and a record that record_is_sound() accepts has its fixed part and all the
 * variable parts that this announces. What the numbers mean is replay.c's business.
 */
#ifndef HI_RECORDS_H
#define HI_RECORDS_H

#include "hi_stream.h"
#include "input.h"

#define RECORDS_DAMAGE_MAX 160u
#define RECORDS_FRAMES_MAX 1024u /* no stack is longer; the payload's own limit is lower */

/* True if these first bytes of a file (16 are enough) begin a record stream, of any version. */
bool records_recognize(const uint8_t *bytes, size_t size);
/*
 * The next record, taken; valid until the next call. 1, 0 at the end of the stream, or -EBADMSG: from here on nothing can be made of the stream, and
 * damage[RECORDS_DAMAGE_MAX] says why and at which byte.
 */
int records_next(struct input *input, const struct hi_stream_record **out_record, char *damage);
/* False: the record is too small for what it says it holds. Types unknown to this version are sound. */
bool record_is_sound(const struct hi_stream_record *record);

#endif
