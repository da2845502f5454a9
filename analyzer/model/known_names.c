/* SPDX-License-Identifier: MIT */
/* known_names.c - see known_names.h. */
#include "known_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text_equal.h"

static bool is_same_module(const struct profile_module *a, const struct profile_module *b)
{
	return a->lo == b->lo && a->hi == b->hi && a->bias == b->bias &&
	       a->file_offset == b->file_offset && a->device == b->device && a->inode == b->inode &&
	       a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0 &&
	       text_equal(a->path, b->path);
}

static int known_module(struct profile *known, const struct profile_module *module,
			int32_t *out_index)
{
	uint32_t index = 0;

	while (index < known->module_count && !is_same_module(&known->module[index], module))
		index++;
	*out_index = (int32_t)index;
	return index == known->module_count ? profile_add_module(known, module, &index) : 0;
}

/*
 * By module of the profile: the index of the same module in names->profile. The caller frees it.
 * NULL = out of memory.
 */
static int32_t *known_modules(struct known_names *names, const struct profile *profile)
{
	int32_t *known = malloc((profile->module_count + 1) * sizeof(*known));
	int err = !known || names->profile.index ? 0 : profile_open(&names->profile);

	for (size_t i = 0; known && i < profile->module_count && !err; i++)
		err = known_module(&names->profile, &profile->module[i], &known[i]);
	if (err) {
		free(known);
		known = NULL;
	}
	return known;
}

/*
 * Copies lines between a frame and its copy in `names`: to the frame if to_frame, else to the copy;
 * only if the target has none.
 */
static int share_lines(struct known_names *names, const int32_t *module,
		       struct profile_frame *frame, bool to_frame)
{
	struct profile_frame *known;
	uint32_t index;

	if (profile_frame_at(&names->profile, frame->address, module[frame->module], &index))
		return -ENOMEM;
	known = &names->profile.frame[index];
	if (to_frame)
		return known->line_count
			       ? profile_frame_lines(frame, known->line, known->line_count)
			       : 0;
	return known->line_count ? 0 : profile_frame_lines(known, frame->line, frame->line_count);
}

static int share_all(struct known_names *names, const struct profile *profile, bool to_frame)
{
	int32_t *module = known_modules(names, profile);
	int err = module ? 0 : -ENOMEM;

	for (size_t i = 0; i < profile->frame_count && !err; i++) {
		struct profile_frame *frame = &profile->frame[i];

		if (frame->module >= 0 && (size_t)frame->module < profile->module_count &&
		    (frame->line_count == 0) == to_frame)
			err = share_lines(names, module, frame, to_frame);
	}
	free(module);
	return err;
}

int known_names_apply(struct known_names *names, struct profile *profile)
{
	return share_all(names, profile, true);
}

int known_names_learn(struct known_names *names, const struct profile *profile)
{
	return share_all(names, profile, false);
}

void known_names_close(struct known_names *names)
{
	profile_close(&names->profile);
}
