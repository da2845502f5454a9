/* SPDX-License-Identifier: MIT */
/*
 * java_fuzz.c - heap profiles of Google's agent for Java.
 *
 * libFuzzer: -max_len=4096
 */
#include "read_check.h"
#include "read_formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return check_read(data, size, read_java);
}
