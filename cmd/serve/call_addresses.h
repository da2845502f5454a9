/* SPDX-License-Identifier: MIT */
/*
 * call_addresses.h - the body of a POST to a page `symbol`: 0xADDRESS+0xADDRESS, return addresses
 * less one. google-pprof, jeprof, go tool pprof and report send it.
 */
#ifndef HI_SERVE_CALL_ADDRESSES_H
#define HI_SERVE_CALL_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

#include "must_check.h"

struct call_addresses {
	uint64_t *address;
	size_t count;
};

/* 0, -EINVAL: something is no address; -ENOMEM. With 0 the caller frees the addresses. */
must_check int call_addresses_read(const char *text, size_t size, struct call_addresses *out);

#endif
