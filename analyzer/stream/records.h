/* SPDX-License-Identifier: MIT */
/*
 * records.h - splits a byte stream into records whose form can be trusted: include/hi_stream.h is
 * the format.
 *
 * A record from records_next() lies whole in memory, aligned. A record that record_is_sound()
 * accepts has its fixed part and all variable parts that the fixed part announces. replay.c judges
 * what the numbers mean.
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
 * Takes the next record, which is valid until the next call. 1; 0 at the end of the stream;
 * -EBADMSG: the rest of the stream is unusable, and damage[RECORDS_DAMAGE_MAX] says why and at
 * which byte.
 */
int records_next(struct input *input, const struct hi_stream_record **out_record, char *damage);
/*
 * False: the record is too small for what it announces, or contradicts itself. Types unknown to
 * this version are sound.
 */
/* bytes of a MEMORY record of version 4 */
#define HI_STREAM_MEMORY_OF_4 32u
bool record_is_sound(const struct hi_stream_record *record);

#endif
