/* SPDX-License-Identifier: MIT */
/*
 * heapfile_fuzz.c - heap profiles, ours and other tools', and every view of them, alone and
 * compared.
 *
 * libFuzzer: -max_len=4096
 */
#include "allocator_frames.h"
#include "merge.h"
#include "profile_check.h"
#include "render.h"

/* By a program of its own, or out of the files that a profile names. */
static bool is_by_others(const struct renderer *renderer)
{
	return strcmp(renderer->name, "disasm") == 0 || strcmp(renderer->name, "svg") == 0 ||
	       strcmp(renderer->name, "pdf") == 0 || strcmp(renderer->name, "png") == 0;
}

/*
 * What a file does not tell (when its samples were allocated, by which thread), or has only by
 * name; or no function that matches.
 */
static bool may_refuse(const struct renderer *renderer, int err)
{
	const bool wants_more =
		strcmp(renderer->name, "leaks") == 0 || strcmp(renderer->name, "symbolize") == 0;
	const bool wants_any = renderer->argument || strcmp(renderer->name, "threads") == 0;

	return (err == -EINVAL && wants_more) || (err == -ENODATA && wants_any) ||
	       (err != -ENOMEM && renderer->argument);
}

static void draw(const struct profile *profile, bool is_comparison)
{
	static FILE *nowhere;
	struct series series = {0};

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	for (size_t i = 0; i < 6; i++)
		FUZZ_CHECK(!series_add(&series, profile, INUSE_SPACE));
	for (const struct renderer *renderer = renderers; renderer->name; renderer++) {
		const struct render_options options = {.type = INUSE_SPACE,
						       .sort = SORT_CUM,
						       .argument = "main",
						       .intervals = true,
						       .file_count = 1,
						       .tail.share = LEAKS_TAIL_SHARE,
						       .series = &series};
		int err;

		if (is_by_others(renderer))
			continue;
		err = renderer->render(profile, &options, nowhere);
		FUZZ_CHECK(!err || (err == -EINVAL && is_comparison) || may_refuse(renderer, err));
	}
	series_close(&series);
}

/* All of it against itself. */
static void draw_comparison(const struct profile *profile)
{
	struct profile both;

	FUZZ_CHECK(!profile_open(&both));
	FUZZ_CHECK(!profile_merge(&both, profile, PROFILE_NEW) &&
		   !profile_merge(&both, profile, PROFILE_BASE));
	draw(&both, true);
	profile_close(&both);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile profile;
	struct input input;

	FUZZ_CHECK(!profile_open(&profile) && !input_open(&input, fuzz_file(data, size)));
	const int err = heapfile_read(&input, &profile);
	FUZZ_CHECK(err == 0 || (err == -EBADMSG && profile.meta.damage));
	if (!err) {
		(void)allocator_frames_cut(&profile);
		check_indices(&profile);
		draw(&profile, profile_is_comparison(&profile)); /* counts may be negative */
		draw_comparison(&profile);
	}
	input_close(&input);
	profile_close(&profile);
	return 0;
}
