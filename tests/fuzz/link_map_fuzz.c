/* SPDX-License-Identifier: MIT */
/*
 * link_map_fuzz.c - the dynamic linker's list of objects in hostile memory: an address is an offset
 * in the input, struct r_debug lies at 8.
 *
 * libFuzzer: -max_len=1024
 */
#include "fuzz.h"
#include "link_map.h"

#define R_DEBUG 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct memory memory = {.pid = getpid(), .fd = fuzz_file(data, size)};
	uint64_t fingerprint, again;
	struct link_map_list list;

	if (!link_map_read(&memory, R_DEBUG, &list)) {
		FUZZ_CHECK(list.base_count <= list.count);
		link_map_list_close(&list);
	}
	if (!link_map_fingerprint(&memory, R_DEBUG, NULL, &fingerprint))
		FUZZ_CHECK(!link_map_fingerprint(&memory, R_DEBUG, NULL, &again) &&
			   fingerprint == again);
	return 0;
}
