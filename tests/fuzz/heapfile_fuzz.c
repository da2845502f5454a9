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
	struct series series = {0};

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	for (size_t i = 0; i < 6; i++)
		FUZZ_CHECK(!series_add(&series, profile, INUSE_SPACE));
	for (const struct renderer *renderer = renderers; renderer->name; renderer++) {
		const struct render_options options = {
			.type = INUSE_SPACE, .sort = SORT_CUM, .intervals = true, .file_count = 1, .tail.share = LEAKS_TAIL_SHARE, .series = &series};
		int error;

		if (strcmp(renderer->name, "svg") == 0) /* graphviz, as a program of its own */
			continue;
		error = renderer->render(profile, &options, nowhere);
		FUZZ_CHECK(!error || (error == -EINVAL && strcmp(renderer->name, "leaks") == 0)); /* it does not say when its samples were allocated */
	}
	series_close(&series);
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
