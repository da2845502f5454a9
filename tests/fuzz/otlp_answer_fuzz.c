/* SPDX-License-Identifier: MIT */
/*
 * otlp_answer_fuzz.c - what a server of OTLP answers, as a success and as an error. The text is
 * printable, and nothing is changed by what makes no sense.
 *
 * libFuzzer: -max_len=512
 */
#include "fuzz.h"
#include "hi_otlp.h"

typedef int read_fn(const void *bytes, size_t size, struct hi_otlp_answer *out_answer);

static void check(read_fn *read, const uint8_t *data, size_t size)
{
	static const struct hi_otlp_answer before = {.rejected = 77, .text = "before"};
	struct hi_otlp_answer answer = before;

	if (read(data, size, &answer))
		FUZZ_CHECK(!memcmp(&answer, &before, sizeof(answer)));
	FUZZ_CHECK(strnlen(answer.text, HI_OTLP_TEXT_MAX) < HI_OTLP_TEXT_MAX);
	for (const char *c = answer.text; *c; c++)
		FUZZ_CHECK(*c >= ' ' && *c <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(hi_otlp_read_response, data, size);
	check(hi_otlp_read_status, data, size);
	return 0;
}
