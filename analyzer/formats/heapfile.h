/* SPDX-License-Identifier: MIT */
/*
 * heapfile.h - the gperftools heap profile, text: docs/formats.md says what is in ours beyond what every reader of the format knows.
 *
 * Ours holds symbols and modules in comment lines, so that it can be reported on a machine that has neither the program nor its libraries.
 */
#ifndef HI_HEAPFILE_H
#define HI_HEAPFILE_H

#include <stdio.h>

#include "input.h"
#include "profile.h"

/* True if these first bytes of a file (16 are enough) begin a heap profile. */
bool heapfile_recognize(const uint8_t *bytes, size_t size);
/*
 * Reads one of ours or of gperftools into an empty, open profile. 0, -ENOMEM, or -EBADMSG when there is nothing to show. Damage further on is no error: what
 * was good is in the profile, and meta.damage says what was wrong first.
 */
int heapfile_read(struct input *input, struct profile *profile);
/* Writes a profile, after symbols_resolve(); no comparison. 0 or -ENOMEM. The caller looks for errors of the stream. */
int heapfile_write(const struct profile *profile, FILE *out);

#endif
