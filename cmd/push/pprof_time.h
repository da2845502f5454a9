/* SPDX-License-Identifier: MIT */
/*
 * pprof_time.h - another time and duration for a gzipped pprof profile. In ours they are those of
 * the session so far. Servers order profiles by their time, and take a duration as a sign that the
 * figures are of that time alone; Go's heap profiles have the time of the request, and no duration.
 */
#ifndef HI_PPROF_TIME_H
#define HI_PPROF_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "must_check.h"

struct pprof_time {
	uint64_t unix_ns, duration_ns;
};

/*
 * A copy that differs in nothing else; the caller frees *out_bytes. -EBADMSG: it is no such
 * profile; -EFBIG: unpacked it is larger than 512 MB. May read what an attacker has written.
 */
must_check int pprof_time_set(const void *profile, size_t size, struct pprof_time time,
			      uint8_t **out_bytes, size_t *out_size);

#endif
