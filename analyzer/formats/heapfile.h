/* SPDX-License-Identifier: MIT */
/*
 * heapfile.h - the gperftools heap profile, as text. docs/formats.md says what heapinject's files
 * hold beyond what every reader of the format knows.
 *
 * heapinject's files hold symbols and modules in comment lines, so that they can be reported on a
 * machine that has neither the program nor its libraries.
 */
#ifndef HI_HEAPFILE_H
#define HI_HEAPFILE_H

#include <stdio.h>

#include "input.h"
#include "profile.h"

/* True if these first bytes of a file (16 are enough) begin a heap profile. */
bool heapfile_recognize(const uint8_t *bytes, size_t size);
/*
 * Reads a heap profile of heapinject or of gperftools into an empty, open profile. 0, -ENOMEM, or
 * -EBADMSG if there is nothing to show. Damage further on is no error: what was good is in the
 * profile, and meta.damage says what the first damage was.
 */
int heapfile_read(struct input *input, struct profile *profile);
/*
 * Writes a profile, after symbols_resolve(). The profile must not be a comparison. 0 or -ENOMEM.
 * The caller checks the stream for errors.
 */
int heapfile_write(const struct profile *profile, FILE *out);

#endif
