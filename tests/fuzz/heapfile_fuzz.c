/* SPDX-License-Identifier: MIT */
/*
 * heapfile_fuzz.c - heap profiles, ours and other tools', and every view of them.
 *
 * libFuzzer: -max_len=4096
 */
#include "profile_check.h"
#include "render.h"

static void draw(const struct profile *profile)
{
	static FILE *nowhere;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	for (const struct renderer *renderer = renderers; renderer->name; renderer++) {
		const struct render_options options = {.type = INUSE_SPACE, .sort = SORT_CUM, .intervals = true};

		if (strcmp(renderer->name, "svg") == 0) /* graphviz, as a program of its own */
			continue;
		FUZZ_CHECK(!renderer->render(profile, &options, nowhere));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile profile;
	struct input input;

	FUZZ_CHECK(!profile_open(&profile) && !input_open(&input, fuzz_file(data, size)));
	const int error = heapfile_read(&input, &profile);
	FUZZ_CHECK(error == 0 || (error == -EBADMSG && profile.meta.damage));
	if (!error) {
		check_indices(&profile);
		draw(&profile);
	}
	input_close(&input);
	profile_close(&profile);
	return 0;
}
