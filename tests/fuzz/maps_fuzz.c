/* SPDX-License-Identifier: MIT */
/*
 * maps_fuzz.c - the text of /proc/PID/maps, whose paths the target chooses.
 *
 * libFuzzer: -max_len=4096
 */
#include "fuzz.h"
#include "procfs.h"

static void check_order(const struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *mapping = &maps->mapping[i];

		FUZZ_CHECK(mapping->lo < mapping->hi && mapping->path);
		FUZZ_CHECK(i == 0 || mapping->lo >= maps->mapping[i - 1].hi);
		FUZZ_CHECK(strlen(mapping->path) <= maps->text_size);
		FUZZ_CHECK(maps_find(maps, mapping->lo) == mapping &&
			   maps_find(maps, mapping->hi - 1) == mapping &&
			   maps_find(maps, mapping->hi) != mapping);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct maps maps;
	/* Not terminated: the parser is told the size. */
	char *text = malloc(size ? size : 1);

	FUZZ_CHECK(text);
	if (size)
		memcpy(text, data, size);
	if (!maps_parse(text, size, &maps)) {
		check_order(&maps);
		maps_close(&maps);
	}
	free(text);
	return 0;
}
