/* SPDX-License-Identifier: MIT */
/*
 * status_fuzz.c - what a session tells of itself: fields, and both forms in which they are printed.
 *
 * libFuzzer: -max_len=2048
 */
#include "fuzz.h"
#include "status_print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct status_fields fields;
	char *text = fuzz_text(data, size);
	FILE *out = fopen("/dev/null", "w");

	FUZZ_CHECK(out);
	if (!status_fields_read(text, &fields)) {
		FUZZ_CHECK(memchr(fields.program, 0, sizeof(fields.program)));
		FUZZ_CHECK(memchr(fields.final_file, 0, sizeof(fields.final_file)));
		FUZZ_CHECK(memchr(fields.triggers, 0, sizeof(fields.triggers)));
		status_print_text(&fields, out);
		status_print_json(&fields, out);
	}
	fclose(out);
	free(text);
	return 0;
}
