/* SPDX-License-Identifier: MIT */
/* gzip.h - bytes in memory, from and to gzip. The caller frees *out_bytes. */
#ifndef HI_GZIP_H
#define HI_GZIP_H

#include <stddef.h>
#include <stdint.h>

#include "must_check.h"

/* -EBADMSG: it is no gzip, or more follows; -EFBIG: unpacked it is larger than 512 MB; -ENOMEM. */
must_check int gzip_unpack(const void *packed, size_t size, uint8_t **out_bytes, size_t *out_size);
/* -ENOMEM */
must_check int gzip_pack(const uint8_t *bytes, size_t size, uint8_t **out_bytes, size_t *out_size);

#endif
