/* SPDX-License-Identifier: MIT */
/*
 * perfmap_fuzz.c - /tmp/perf-PID.map, which the profiled program writes.
 *
 * libFuzzer: -max_len=4096
 */
#include "fuzz.h"
#include "perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap map;
	char *text = fuzz_text(data, size);
	const uint64_t probes[] = {0, 1, 0x1000, 0x7f0000001000, UINT64_MAX};

	if (perfmap_parse(text, &map)) /* text is the map's now, also if it failed */
		return 0;
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		const char *name = perfmap_find(&map, probes[i]);

		FUZZ_CHECK(!name ||
			   (name > map.text && name + strlen(name) <= map.text + size && *name));
	}
	perfmap_close(&map);
	return 0;
}
