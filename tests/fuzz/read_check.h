/* SPDX-License-Identifier: MIT */
/*
 * read_check.h - what the fuzz targets of the readers of other tools' files have in common: read,
 * check, draw.
 */
#ifndef READ_CHECK_H
#define READ_CHECK_H

#include "allocator_frames.h"
#include "profile_check.h"
#include "render.h"

static inline void draw(const struct profile *profile)
{
	static FILE *nowhere;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	for (const struct renderer *renderer = renderers; renderer->name; renderer++) {
		const struct render_options options = {
			.type = INUSE_SPACE, .sort = SORT_CUM, .intervals = true};

		if (strcmp(renderer->name, "text") == 0 || strcmp(renderer->name, "collapsed") == 0)
			FUZZ_CHECK(!renderer->render(profile, &options, nowhere));
	}
}

/* A reader gives a sound profile, or says what is wrong. */
static inline int check_read(const uint8_t *data, size_t size,
			     int (*read)(struct input *input, struct profile *profile))
{
	struct profile profile;
	struct input input;

	FUZZ_CHECK(!profile_open(&profile) && !input_open(&input, fuzz_file(data, size)));
	const int err = read(&input, &profile);
	FUZZ_CHECK(err == 0 || (err == -EBADMSG && profile.meta.damage));
	if (!err) {
		(void)allocator_frames_cut(&profile);
		check_indices(&profile);
		draw(&profile);
		check_pprof(&profile);
	}
	input_close(&input);
	profile_close(&profile);
	return 0;
}

#endif
