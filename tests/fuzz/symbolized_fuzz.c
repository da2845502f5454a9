/* SPDX-License-Identifier: MIT */
/*
 * symbolized_fuzz.c - names, and a heap profile after them.
 *
 * libFuzzer: -max_len=4096
 */
#include "read_check.h"
#include "read_formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return check_read(data, size, read_symbolized);
}
