/* SPDX-License-Identifier: MIT */
/* frame_label.c - see frame_label.h. */
#include "frame_label.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t *frame_label_frames(const struct profile *profile, const struct functions *functions)
{
	uint32_t *frame_of =
		malloc((functions->first[profile->frame_count] + (size_t)1) * sizeof(*frame_of));

	for (size_t f = 0; frame_of && f < profile->frame_count; f++) {
		for (uint32_t call = functions->first[f]; call < functions->first[f + 1]; call++)
			frame_of[call] = (uint32_t)f;
	}
	return frame_of;
}

/*
 * The address of the call is one byte before the return address. Frames that another tool gave by
 * name have no address.
 */
static void write_address(const struct profile_frame *frame, char *text, size_t size)
{
	if (frame->address)
		snprintf(text, size, "0x%" PRIX64 ": ", frame->address - 1);
	else
		*text = 0;
}

char *frame_label(const struct profile *profile, const struct functions *functions, uint32_t frame,
		  uint32_t call)
{
	const struct function_call *at = &functions->call[call];
	const struct profile_frame *of = &profile->frame[frame];
	const char *path = of->module >= 0 ? profile->module[of->module].path : NULL;
	const char *name = functions->name[at->function];
	char address[24], *text = NULL;
	int size;

	write_address(of, address, sizeof(address));
	if (at->file && *at->file)
		size = asprintf(&text, "%s%s (%s:%" PRIu32 ")", address, name, at->file, at->line);
	else if (path && *path)
		size = asprintf(&text, "%s%s (in %s)", address, name, path);
	else
		size = asprintf(&text, "%s%s", address, name);
	return size < 0 ? NULL : text;
}
