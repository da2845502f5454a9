/* SPDX-License-Identifier: MIT */
/*
 * pprof_fuzz.c - profiles of pprof's, not compressed; also ours, from which samples are taken back.
 *
 * libFuzzer: -max_len=8192
 */
#include "read_check.h"
#include "read_formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return check_read(data, size, read_pprof);
}
