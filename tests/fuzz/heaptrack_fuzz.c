/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_fuzz.c - recordings of heaptrack's.
 *
 * libFuzzer: -max_len=4096
 */
#include "read_check.h"
#include "read_formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return check_read(data, size, read_heaptrack);
}
